"""A shell whose directory and variables last from command to command."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from dataclasses import dataclass, field

from hermes.tooling import Tool, ToolContext, ToolError, tool

MAX_CHARS = 30_000
DEFAULT_TIMEOUT = 120
LONGEST = 3_600
_WHOLE = 4 * 1024 * 1024  # bytes of output that are looked at as a whole


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
    import tempfile  # 2 ms that only a command pays

    # To a file: what the command leaves running cannot hold the answer, and none of it is lost.
    fd, path = tempfile.mkstemp(dir=shell.folder, prefix=f"output-{context.call_id[-12:]}-", suffix=".txt")
    with os.fdopen(fd, "wb") as output:
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            shell.script(command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            cwd=shell.cwd if os.path.isdir(shell.cwd) else shell.folder,
            start_new_session=True,
        )
    ending = ""
    try:
        async with asyncio.timeout(timeout):
            await process.wait()
        if process.returncode:
            ending = f"[exit code {process.returncode}]"
    except TimeoutError:
        ending = f"[timed out after {timeout} s; the command was ended]"
    finally:
        _end(process)
    await process.wait()
    return "\n".join(part for part in (_shown(path), ending) if part)


def _end(process: asyncio.subprocess.Process) -> None:
    """End the command and everything it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _shown(path: str) -> str:
    """The output, or its two ends with a word about where the whole is; a short one leaves no file."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= _WHOLE:
            text = file.read().decode("utf-8", "replace").rstrip("\n")
            if len(text) <= MAX_CHARS:
                os.unlink(path)
                return text
            head, tail = text[: MAX_CHARS // 2], text[-(MAX_CHARS // 2) :]
        else:
            head = file.read(MAX_CHARS // 2).decode("utf-8", "replace")
            file.seek(-(MAX_CHARS // 2), os.SEEK_END)
            tail = file.read().decode("utf-8", "replace").rstrip("\n")
    return f"{head}\n[… the middle of {size:,} bytes is left out; all of it is in {path}]\n{tail}"
