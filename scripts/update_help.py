"""Write src/hermes/cli/help.txt: the text of `hermes --help` for an 80 column terminal.

python scripts/update_help.py
"""

from __future__ import annotations

from pathlib import Path

import click

from hermes.cli.app import hermes


def main() -> None:
    context = click.Context(hermes, info_name="hermes", terminal_width=80, **hermes.context_settings)
    target = Path(__file__).resolve().parents[1] / "src" / "hermes" / "cli" / "help.txt"
    target.write_text(hermes.get_help(context) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
