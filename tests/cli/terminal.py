"""A real pseudo-terminal with a screen that understands what a terminal does."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

PATIENCE = 30.0
OWN = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
PROGRAM = "import sys; from hermes.cli.entry import main; sys.exit(main())"


class Screen(pyte.HistoryScreen):
    """What the terminal shows, and every byte it got."""

    def set_margins(self, *args: int, **kwargs: bool) -> None:
        kwargs.pop("private", None)  # pyte does not know the private form
        super().set_margins(*args, **kwargs)


class Terminal:
    """A program on a terminal of `columns` by `rows`. What is waited for is looked for on its screen."""

    def __init__(
        self,
        *arguments: str,
        home: Path,
        cwd: Path,
        columns: int = 80,
        rows: int = 24,
        program: str = PROGRAM,
        **environ: str,
    ) -> None:
        self.screen = Screen(columns, rows, history=20_000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {
            "PATH": os.environ["PATH"],
            "HERMES_HOME": str(home),
            "HOME": str(home.parent),
            "PYTHONWARNINGS": "error",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            **environ,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN + program, *arguments],
            env=variables,
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.master = master
        os.set_blocking(master, False)

    def type(self, text: str) -> None:
        """Type keys: `\\r` is Enter, `\\x03` Ctrl-C."""
        data = text.encode()
        while data:
            _, writable, _ = select.select([], [self.master], [], PATIENCE)
            assert writable, "the program does not read"
            data = data[os.write(self.master, data[:1024]) :]
            self._read(0)

    def paste(self, text: str) -> None:
        self.type(f"\x1b[200~{text}\x1b[201~")

    def say(self, text: str) -> None:
        """Type a line and send it, once it stands in the input."""
        self.type(text)
        self.wait_for(text[-15:])
        self.type("\r")

    def wait_for(self, text: str, *, gone: bool = False) -> str:
        """Read until a text is on the screen, or is gone from it."""
        return self.wait_until(lambda shown: (text in shown) != gone, f"{'no ' * gone}{text!r}")

    def wait_until(self, fits: Callable[[str], bool], what: str) -> str:
        end = time.monotonic() + PATIENCE
        while not fits(shown := self.text()):
            left = end - time.monotonic()
            assert left > 0 and self._read(left), f"waited for {what}; the screen:\n{shown}"
        return shown

    def text(self) -> str:
        """The screen as lines without spaces at their ends."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def scrolled(self) -> str:
        """All that was shown, with what has scrolled away."""
        lines = [
            "".join(row[x].data for x in range(self.screen.columns)).rstrip()
            for row in self.screen.history.top
        ]
        return "\n".join([*lines, self.text()])

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def end(self) -> int:
        """Read to the end of the program; its exit code."""
        while self._read(PATIENCE):
            pass
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """As kill -9 does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def _read(self, wait: float) -> bool:
        """Take what the program wrote; false at its end, or when nothing came in that time."""
        readable, _, _ = select.select([self.master], [], [], wait)
        if not readable:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self.master)
