"""The `hermes` command. Version and help answer without importing anything heavy."""

from __future__ import annotations

import io
import os
import sys

_HELP = os.path.join(os.path.dirname(__file__), "help.txt")


def main() -> int:
    """Run the command line; returns the exit code."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever called
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")  # what it cannot write is spelled out
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from hermes.version import __version__

        return _print(f"hermes {__version__}\n")
    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        arguments = ["chat"]
    if arguments in ([], ["--help"], ["-h"]):
        # The text is click's own for an 80 column terminal; a test holds them equal.
        with open(_HELP, encoding="utf-8") as text:
            return _print(text.read())
    import gc

    from hermes.cli.app import run

    gc.set_threshold(50_000, 20, 20)  # most of what a command makes stays until its end
    code = run(arguments)
    gc.freeze()  # nor need it be looked through then
    return code


def _print(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # or the interpreter would complain at its end
        return 141
    except OSError as error:
        from hermes.cli.app import drop_output

        sys.stderr.write(f"Error: the output could not be written: {error.strerror}\n")
        drop_output()
        return 1
    return 0
