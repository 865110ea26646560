"""Commands that run in the background: started, looked at, stopped, and ended with the session."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
import weakref
from dataclasses import dataclass

from hermes.tooling import ToolError
from hermes.tools.terminal_output import shown
from hermes.tools.terminal_shell import Shell, end

MOST = 8
"""How many may run at once."""
_GRACE = 2.0  # seconds between asking a job to end and ending it
_TICK = 0.05


@dataclass(slots=True)
class Job:
    """One command in the background. `read` is how many bytes of its output were shown."""

    number: int
    command: str
    process: subprocess.Popen[bytes]
    path: str
    begun: float
    read: int = 0

    @property
    def state(self) -> str:
        code = self.process.poll()
        if code is None:
            return f"running for {time.monotonic() - self.begun:.0f} s"
        return f"ended with exit code {code}" if code >= 0 else f"ended by signal {-code}"


class Jobs:
    """The jobs of one session. They end with it, and with the program at the latest."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._jobs: dict[int, Job] = {}
        self._groups: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _end_all, self._groups)

    def start(self, command: str) -> str:
        """Start a command; the answer names its number. ToolError when too many run already."""
        running = [job for job in self._jobs.values() if job.process.poll() is None]
        if len(running) >= MOST:
            raise ToolError(f"{MOST} jobs run already; stop one first\n{self.listed()}")
        number = len(self._jobs) + 1
        fd, path = self._shell.output(f"job-{number}")
        with os.fdopen(fd, "wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", self._shell.script(command, keep=False)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._shell.start,
                start_new_session=True,
            )
        self._jobs[number] = Job(number, command, process, path, time.monotonic())
        self._groups.append(process)
        return f"job {number} was started; terminal with job={number} shows its output and state"

    def listed(self) -> str:
        """All jobs with their states, for who gave no command."""
        if not self._jobs:
            return "there are no jobs; give a command, with background to start one"
        return "\n".join(
            f"job {job.number}: {job.state}: {_short(job.command)}" for job in self._jobs.values()
        )

    async def look(self, number: int, *, wait: int = 0, stop: bool = False) -> str:
        """What a job has printed since the last look, and its state; at most `wait` seconds until it ends."""
        job = self._jobs.get(number)
        if job is None:
            raise ToolError(f"there is no job {number}; {self.listed()}")
        if stop and job.process.poll() is None:
            await _stop(job.process)
        await _ended(job.process, wait)
        size = os.path.getsize(job.path)
        output, job.read = shown(job.path, job.read, keep=True), size
        return "\n".join(part for part in (output, f"[job {number} {job.state}]") if part)

    async def close(self) -> None:
        """End all that still runs."""
        await asyncio.gather(*(_stop(job.process) for job in self._jobs.values()))


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a job and all it started to end, and end what does not."""
    end(process.pid, signal.SIGTERM)
    await _ended(process, _GRACE)
    end(process.pid)
    process.wait()


async def _ended(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has ended, but not longer than so many seconds."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        await asyncio.sleep(_TICK)


def _end_all(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            end(process.pid)
            process.wait()


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 100 else line[:99] + "…"
