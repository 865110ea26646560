"""A shell whose directory and variables last from command to command."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import tempfile
from dataclasses import dataclass, field

from hermes.tooling import Tool, ToolContext, ToolError, tool

MAX_CHARS = 30_000
DEFAULT_TIMEOUT = 120
LONGEST = 3_600
_READ = 65_536
_LINGER = 0.3
_KEEP = 50 * 1024 * 1024


@dataclass(slots=True)
class Shell:
    """What lasts between commands. `state` is a file that holds directory and variables of the last one."""

    folder: str
    cwd: str
    state: str = field(default="")

    def script(self, command: str) -> str:
        """The command, between taking up the last state and leaving its own."""
        quoted = shlex.quote(self.state)
        return (
            f"if [ -s {quoted} ]; then . {quoted}; fi 2>/dev/null\n"
            f'trap \'__code=$?; {{ printf "cd %q\\n" "$PWD"; export -p; }} > {quoted}.new && '
            f"mv {quoted}.new {quoted}; exit $__code' EXIT\n"
            f"{command}\n"
        )


def terminal_tool(folder: str, cwd: str) -> Tool:
    """The tool for one session. `folder` holds its state and kept outputs; `cwd` is where it begins."""
    shell = Shell(folder, cwd, os.path.join(folder, "shell-state"))

    @tool()
    async def terminal(context: ToolContext, command: str, timeout: int = DEFAULT_TIMEOUT) -> str:
        """Run a command; see terminal.md."""
        if "\0" in command:
            raise ToolError("the command has a NUL character; leave it out")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return await _run(shell, command, max(1, min(timeout, LONGEST)), context)

    return terminal


async def _run(shell: Shell, command: str, timeout: int, context: ToolContext) -> str:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        shell.script(command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=shell.cwd if os.path.isdir(shell.cwd) else shell.folder,
        start_new_session=True,
    )
    output = bytearray()
    timed_out = False
    collecting = asyncio.create_task(_collect(process, output))
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
            # What the command left running may hold the pipe open; its output is not waited for.
            await asyncio.wait([collecting], timeout=_LINGER)
    except TimeoutError:
        timed_out = True
    finally:
        _end(process)
        collecting.cancel()
    await process.wait()
    text = bytes(output).decode("utf-8", "replace")
    ending = f"[timed out after {timeout} s; the command was ended]" if timed_out else ""
    if not timed_out and process.returncode:
        ending = f"[exit code {process.returncode}]"
    return "\n".join(part for part in (_shortened(text, shell.folder, context.call_id), ending) if part)


async def _collect(process: asyncio.subprocess.Process, output: bytearray) -> None:
    assert process.stdout is not None
    while chunk := await process.stdout.read(_READ):
        if len(output) < _KEEP:
            output += chunk


def _end(process: asyncio.subprocess.Process) -> None:
    """End the command and everything it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _shortened(text: str, folder: str, call_id: str) -> str:
    text = text.rstrip("\n")
    if len(text) <= MAX_CHARS:
        return text
    fd, path = tempfile.mkstemp(dir=folder, prefix=f"output-{call_id[-12:]}-", suffix=".txt")
    with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    half = MAX_CHARS // 2
    lost = len(text) - 2 * half
    return f"{text[:half]}\n[… {lost} characters left out; all of it is in {path}]\n{text[-half:]}"
