"""What lasts between the commands of a session: the directory and the exported variables."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal

from hermes.frozen import frozen

KEPT_DAYS = 7
_SESSION = re.compile(r"[0-9a-f]{12}")
"""What the folder of a session's terminal is named, beside those of others."""


@frozen
class Shell:
    """A place where commands run. `state` is a file that the last command left; `cwd` is where it begins."""

    folder: str
    cwd: str
    state: str

    @property
    def start(self) -> str:
        """A directory that is there, for the process that takes up the state."""
        return self.cwd if os.path.isdir(self.cwd) else self.folder

    def script(self, command: str, *, keep: bool = True) -> str:
        """The command, between taking up the last state and, to `keep` it, leaving its own."""
        state = shlex.quote(self.state)
        take = f"if [ -s {state} ]; then . {state}; fi 2>/dev/null\n"
        leave = (
            f'trap \'__code=$?; {{ printf "cd %q\\n" "$PWD"; export -p; }} > {state}.new && '
            f'mv {state}.new {state}; printf %s "$PWD" > {state}.where; exit $__code\' EXIT\n'
        )
        return f"{take}{leave if keep else ''}{command}\n"

    def where(self) -> str:
        """The directory in which the next command begins."""
        with contextlib.suppress(OSError), open(f"{self.state}.where", encoding="utf-8") as file:
            where = file.read()
            if os.path.isdir(where):
                return where
        return self.start

    def go_back(self) -> None:
        """Let the next command begin where the session began; variables stay."""
        with open(self.state, "a", encoding="utf-8") as file:
            file.write(f"cd {shlex.quote(self.cwd)}\n")
        os.unlink(f"{self.state}.where")

    def tidy(self) -> None:
        """Remove what nobody needs any more: the state, and kept outputs of sessions long past.

        What cannot be removed stays, as in a home that may not be written; another session may be quicker.
        """
        import time

        for path in (self.state, f"{self.state}.where"):
            with contextlib.suppress(OSError):
                os.unlink(path)
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)  # where an output is kept, it stays
        beside, names = os.path.dirname(self.folder), list[str]()
        with contextlib.suppress(OSError):
            names = os.listdir(beside)
        for folder in (os.path.join(beside, name) for name in names if _SESSION.fullmatch(name)):
            with contextlib.suppress(OSError):
                if os.path.getmtime(folder) < time.time() - KEPT_DAYS * 86_400:
                    import shutil  # 3 ms that only an end with something to remove pays

                    shutil.rmtree(folder, ignore_errors=True)

    def output(self, name: str) -> tuple[int, str]:
        """A new file for what a command prints: its descriptor and path."""
        import tempfile  # 2 ms that only a command pays

        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        plain = "".join(c for c in name if c.isalnum() or c in "_-")
        return tempfile.mkstemp(dir=self.folder, prefix=f"output-{plain}-", suffix=".txt")


def end(group: int, signal_: signal.Signals = signal.SIGKILL) -> None:
    """End a command and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal_)
