"""`hermes cache import`: why the calls of another application came from the cache, or did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.errors import FileRefused, UsageError
from hermes.text import many

if TYPE_CHECKING:
    from hermes.wire.logs import Log
    from hermes.wire.review import Entry

MOST_BYTES = 1024 * 1024 * 1024
Reviewed = dict[str, tuple["Entry", ...]]


@click.command("import")
@click.argument("file")
@click.argument("line", required=False, type=click.IntRange(1))
@click.option("--by", default="", metavar="FIELD", help="The field that tells conversations apart.")
@click.option("--provider", default="", metavar="NAME", help="Who served it, if the log does not say.")
@as_json_option
def command(file: str, line: int | None, by: str, provider: str, as_json: bool) -> None:
    """Read FILE, a log of requests and responses (JSON lines), and say what the cache made of each call.

    With LINE, the verdict on the call of that line in full. Nothing of the log is kept.
    """
    from hermes.wire.logs import read_log

    log = read_log(_text(file), by, provider)
    reviewed = _review(log)
    entries = [entry for found in reviewed.values() for entry in found]
    if line is not None:
        entry = next((e for e in entries if e.wire.n == line), None)
        if entry is None:
            raise UsageError(f"line {line} of {file} is no call; {_passed_over(log)}")
        return print_json(entry.to_data()) if as_json else _explain(entry)
    if as_json:
        return print_json(
            {
                "conversations": {name: [e.to_data() for e in found] for name, found in reviewed.items()},
                "passed_over": [{"line": number, "why": why} for number, why in log.passed_over],
            }
        )
    for name, found in reviewed.items():
        _show(name, found)
    if log.passed_over:
        click.echo(plain(_passed_over(log)), err=True)
    return None


def _text(file: str) -> str:
    from hermes.files import read_file
    from hermes.text import decode

    try:
        return decode(read_file(file, max_bytes=MOST_BYTES).data).text
    except FileRefused as error:
        raise UsageError(f"{file} cannot be read: {error}") from None


def _review(log: Log) -> Reviewed:
    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.providers.profiles import profile_for
    from hermes.wire.ledger import Ledger
    from hermes.wire.review import take

    models = load_config(get_hermes_home()).models
    found: Reviewed = {}
    for name, wires in log.sessions().items():
        ledger = Ledger()
        found[name] = tuple(take(ledger, w, profile_for(w.model, w.provider, models)) for w in wires)
    return found


def _show(name: str, entries: tuple[Entry, ...]) -> None:
    from hermes.wire.report import hit_shares, spark
    from hermes.wire.words import worth_telling

    read, given = (sum(getattr(e.verdict, part) for e in entries) for part in ("read", "input"))
    missed = sum(e.verdict.missed for e in entries)
    share = f"{100 * read // given} %" if given else "unknown"
    title = f"conversation {name}" if name else "the log as one conversation"
    calls = many(len(entries), "call")
    click.echo(f"{plain(title)}: {calls}, {given:,} tokens in, {share} from the cache, {missed:,} paid again")
    click.echo(f"  {spark(hit_shares(entries))}")
    for entry in entries:
        if not entry.verdict.is_calm:
            click.echo(plain(f"  line {entry.wire.n}: {entry.verdict.cause} - {entry.verdict.because}"))
    if (worst := worth_telling(entries)) and not worst.verdict.is_calm:
        _explain(worst)


def _explain(entry: Entry) -> None:
    from hermes.wire.words import explained

    first, *rest = explained(entry)
    for text in (first.replace("call ", "line ", 1), *rest):
        click.echo(plain(text))


def _passed_over(log: Log) -> str:
    if not log.passed_over:
        return "every line of it that is not empty is one"
    number, why = log.passed_over[0]
    if len(log.passed_over) == 1:
        return f"line {number} is no call: {why}"
    return f"{len(log.passed_over)} lines are no calls; the first is line {number}: {why}"
