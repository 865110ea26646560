"""`hermes prompt show`."""

from __future__ import annotations

import json
import sys

import click

from hermes.cli.as_json import print_json
from hermes.cli.build import Asked, build, prompt_options
from hermes.cli.screen import plain_lines, show_notices
from hermes.prompt import Tier


@click.command("show")
@prompt_options
@click.option("--tier", type=click.Choice([t.value for t in Tier]), help="Only this tier.")
@click.option("--json", "as_json", is_flag=True, help="The whole prompt with spans, notices and decisions.")
@click.option("-q", "--quiet", is_flag=True, help="No notices that are only information.")
def command(asked: Asked, tier: str | None, as_json: bool, quiet: bool) -> None:
    """Print the exact bytes of the prompt on stdout, and notices on stderr.

    Without --tier the output is the prompt and nothing else, not even a final line end. Only a terminal
    gets � for the characters that it would obey.
    """
    built = build(asked)
    show_notices(built.notices, quiet=quiet)
    if as_json:
        body = json.loads(built.prompt.to_json())
        if tier:
            body["sections"] = [s for s in body["sections"] if s["tier"] == tier]
        print_json(body)
        return
    text = built.prompt.layer(Tier(tier)).text if tier else built.prompt.text
    shown = plain_lines(text) if sys.stdout.isatty() else text
    sys.stdout.buffer.write(shown.encode("utf-8"))
