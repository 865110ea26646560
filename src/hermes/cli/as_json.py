"""Answers for machines: one option, one form."""

from __future__ import annotations

import json
import sys

import click

from hermes.cli.screen import plain_lines

as_json_option = click.option("--json", "as_json", is_flag=True, help="For machines.")


def print_json(value: object) -> None:
    """Print a value as JSON over several lines, for a program that reads it whole."""
    click.echo(_to_text(value, 1))


def print_json_line(value: object) -> None:
    """Print a value as one line of JSON, for a program that reads line by line."""
    click.echo(_to_text(value, None))


def _to_text(value: object, indent: int | None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # What a terminal would obey or cannot show, and surrogates of a file name of any bytes, become escapes.
    safe = plain_lines(text) == text and (text.isascii() or sys.stdout.encoding.lower() == "utf-8")
    return text if safe else json.dumps(value, indent=indent)
