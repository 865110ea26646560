"""The `hermes` command. Version and help answer without importing anything heavy."""

from __future__ import annotations

import os
import sys

_HELP = os.path.join(os.path.dirname(__file__), "help.txt")


def main() -> int:
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from hermes.version import __version__

        sys.stdout.write(f"hermes {__version__}\n")
        return 0
    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        arguments = ["chat"]
    if arguments in ([], ["--help"], ["-h"]):
        # The text is click's own for an 80 column terminal; a test holds them equal.
        with open(_HELP, encoding="utf-8") as text:
            sys.stdout.write(text.read())
        return 0
    import gc

    from hermes.cli.app import run

    gc.set_threshold(50_000, 20, 20)  # most of what a command makes stays until its end
    code = run(arguments)
    gc.freeze()  # nor need it be looked through then
    return code
