"""The terminal: a shell whose directory and variables last from command to command, and jobs beside it."""

from __future__ import annotations

import asyncio
import os

from hermes.files import is_inside
from hermes.tooling import Plan, Tool, ToolContext, ToolError, tool
from hermes.tools.terminal_jobs import Jobs
from hermes.tools.terminal_output import shown
from hermes.tools.terminal_shell import Shell, end

DEFAULT_TIMEOUT = 120
LONGEST = 3_600


def terminal_tool(folder: str, cwd: str, *, confine: bool = False) -> Tool:
    """The tool for one session. `folder` holds its state and kept outputs; `cwd` is where it begins.

    With `confine` the directory goes back there when a command has left it.
    """
    shell = Shell(folder, cwd, os.path.join(folder, "shell-state"))
    jobs = Jobs(shell)

    def plan(context: ToolContext, command: str = "", **more: object) -> Plan:
        return Plan(command=command, cwd=shell.where(), detail=command) if command.strip() else Plan()

    async def close() -> None:
        await jobs.close()
        shell.tidy()

    @tool(plan=plan, close=close)
    async def terminal(
        context: ToolContext,
        command: str = "",
        timeout: int = DEFAULT_TIMEOUT,
        background: bool = False,
        job: int | None = None,
        wait: int = 0,
        stop: bool = False,
    ) -> str:
        """Run a command, or look after a job; see terminal.md."""
        if "\0" in command:
            raise ToolError("the command has a NUL character; leave it out")
        if job is not None and command.strip():
            raise ToolError("give either a command or the number of a job, not both")
        if job is not None:
            return await jobs.look(job, wait=max(0, min(wait, LONGEST)), stop=stop)
        if not command.strip():
            return jobs.listed()
        if background:
            return jobs.start(command)
        answer = await _run(shell, command, max(1, min(timeout, LONGEST)), context)
        return "\n".join(part for part in (answer, _kept_inside(shell) if confine else "") if part)

    return terminal


async def _run(shell: Shell, command: str, timeout: int, context: ToolContext) -> str:
    # To a file: what the command leaves running cannot hold the answer, and none of it is lost.
    fd, path = shell.output(context.call_id[-12:])
    with os.fdopen(fd, "wb") as output:
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            shell.script(command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            cwd=shell.start,
            start_new_session=True,
        )
    ending = ""
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
        if process.returncode:
            ending = f"[exit code {process.returncode}]"
    except TimeoutError:
        ending = (
            f"[timed out after {timeout} s; the command was ended. "
            "What takes longer runs with a longer timeout, or with background]"
        )
    finally:
        end(process.pid)
    await process.wait()
    return "\n".join(part for part in (shown(path), ending) if part)


def _kept_inside(shell: Shell) -> str:
    """A word about a directory outside the project, where the next command would have begun."""
    where, project = os.path.realpath(shell.where()), os.path.realpath(shell.cwd)
    if is_inside(where, project):
        return ""
    shell.go_back()
    return f"[{where} is outside the project; the next command begins in {project} again]"
