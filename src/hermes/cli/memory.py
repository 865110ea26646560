"""`hermes memory`: what is remembered, as it is on the disk; every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, show_notices
from hermes.errors import MemoryRefused, UnknownMemory, UsageError
from hermes.memory.archive import Record
from hermes.memory.operations import Operation
from hermes.memory.scope import OWNER, MemoryScope, Target
from hermes.memory.store import MemoryStore, Report
from hermes.memory.words import find
from hermes.text import many

_SHOWN = 100


@click.group(context_settings={"max_content_width": 100})
def group() -> None:
    """See and change what is remembered. Every change is on record and can be taken back.

    What changes here is in the prompt of the next session, after /refresh, or after /compress.
    """


def _chooses(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which memory is meant."""
    for option in (
        as_json_option,
        click.option("--group", "room", default="", metavar="PLATFORM:ID", help="That of a group."),
        click.option(
            "--of", "user", default="", metavar="PLATFORM:ID", help="That of a user of the gateway."
        ),
        click.option("-p", "--project", is_flag=True, help="That of the project you are in."),
        click.option("-u", "--user", "profile", is_flag=True, help="USER.md, the profile."),
    ):
        command = option(command)
    return command


def _stores(project: bool, user: str, room: str) -> list[MemoryStore]:
    """The memories that the options mean, MEMORY.md first."""
    from hermes.agent.memory_slots import memory_project
    from hermes.agent.system_prompt import load_sources, working_directory
    from hermes.memory.scope import memory_files

    sources = load_sources()
    show_notices((*sources.config.notices, *sources.notices), quiet=True)
    root = ""
    if project:
        root = memory_project(sources.home, working_directory(sources.config)[0], new=True)
    files = memory_files(sources.config.memory, _scope(user, room), root)
    policy = sources.policies.of("memory_write")
    wanted = [f for f in files if (f.place == "project") == project]
    return [MemoryStore(sources.home, file, policy) for file in wanted]


def _scope(user: str, room: str) -> MemoryScope:
    if user and room:
        raise UsageError("say either --of or --group")
    platform, _, name = (user or room).partition(":")
    if (user or room) and not (platform and name):
        raise UsageError(f"{user or room!r} is no PLATFORM:ID, as in telegram:42")
    if user:
        return MemoryScope("direct", platform, user=name)
    return MemoryScope("group", platform, room=name) if room else OWNER


def _store(profile: bool, project: bool, user: str, room: str) -> MemoryStore:
    target: Target = "user" if profile else "memory"
    for store in _stores(project, user, room):
        if store.file.target == target:
            return store
    reason = (
        "there is no profile of a project or group" if profile and (project or room) else "it is switched off"
    )
    raise UsageError(f"there is no such memory: {reason}")


@group.command("list")
@_chooses
def listing(profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """The entries with their ids, and how much is used."""
    stores = [s for s in _stores(project, user, room) if not profile or s.file.target == "user"]
    told = [_state(store) for store in stores]
    if as_json:
        return print_json(told)
    for store, state in zip(stores, told, strict=True):
        click.echo(f"{store.path}\n{store.view().usage}")
        for entry in state["entries"]:
            first, *more = entry["text"].split("\n")
            click.echo("\n  ".join([f"[{entry['id']}] {plain(first)}", *map(plain, more)]))
        click.echo()
    return None


def _state(store: MemoryStore) -> dict[str, Any]:
    view = store.view()
    entries = [{"id": n, "text": e} for n, e in zip(view.ids, view.entries, strict=True)]
    usage = {"size": view.size, "limit": view.limit, "free": view.free}
    return {
        "target": store.file.target,
        "place": store.file.place,
        "path": store.path,
        **usage,
        "entries": entries,
    }


@group.command("add")
@click.argument("text")
@_chooses
def add(text: str, profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """Remember a text."""
    store = _store(profile, project, user, room)
    _tell(store.apply([Operation("add", text)], by="person"), as_json)


@group.command("remove")
@click.argument("entry")
@_chooses
def remove(entry: str, profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """Forget an entry, named by its id or a part of its text."""
    store = _store(profile, project, user, room)
    _tell(store.apply([Operation("remove", entry=entry)], by="person"), as_json)


@group.command("edit")
@click.argument("entry")
@click.argument("text", default="")
@_chooses
def edit(entry: str, text: str, profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """Change an entry to TEXT; without it in your editor ($VISUAL or $EDITOR)."""
    store = _store(profile, project, user, room)
    if not text:
        text = _edited(store, entry)
    _tell(store.apply([Operation("replace", text, entry)], by="person"), as_json)


def _edited(store: MemoryStore, entry: str) -> str:
    view = store.view()
    found = find(view.entries, entry)
    if len(found) != 1:
        raise UsageError(
            f"{entry!r} fits {many(len(found), 'entry', 'entries')}; hermes memory list shows their ids"
        )
    old = view.entries[found[0]]
    new = click.edit(old, extension=".md")
    if new is None or new.strip() == old.strip():
        raise UsageError("nothing was changed")
    return new


@group.command("log")
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="So many.")
@_chooses
def log(limit: int, profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """What was added, changed and removed, the newest last."""
    records = _store(profile, project, user, room).records()
    shown = records[-limit:]
    if as_json:
        return print_json([asdict(r) for r in shown])
    last = records[-limit - 1].after if len(records) > limit else ""
    for record in shown:
        if last and record.before != last and record.change not in _changes(records, last):
            click.echo(f"{'':25}  edited by another program")
        click.echo(_line(record))
        last = record.after
    if not shown:
        click.echo("nothing was changed yet")
    return None


def _changes(records: list[Record], after: str) -> set[str]:
    """The changes that left the file as it was then: one call may be several records."""
    return {r.change for r in records if r.after == after}


def _line(record: Record) -> str:
    text = f"{record.old} → {record.new}" if record.old and record.new else record.new or record.old
    flat = plain(" ".join(text.split()))
    by = f"  ({record.by}{', undo' if record.undoes else ''})"
    return f"{record.time}  {record.action:7} [{record.id}] {flat[:_SHOWN]}{'…' * (len(flat) > _SHOWN)}{by}"


@group.command("undo")
@_chooses
def undo(profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """Take back the last change; again, the one before."""
    _tell(_store(profile, project, user, room).undo(), as_json)


@group.command("restore")
@click.argument("name", metavar="ID")
@_chooses
def restore(name: str, profile: bool, project: bool, user: str, room: str, as_json: bool) -> None:
    """Bring back a removed or replaced entry, by the id that the log shows."""
    _tell(_store(profile, project, user, room).restore(name), as_json)


def _tell(report: Report, as_json: bool) -> None:
    """What was done; a refusal ends the command as an error."""
    show_notices(report.notices)
    if refused := [o for o in report.outcomes if not o.done]:
        named = [o.operation.entry for o in refused if o.operation.entry]
        unknown = any(len(find(report.view.entries, entry)) != 1 for entry in named)
        raise (UnknownMemory if unknown else MemoryRefused)("; ".join(o.why for o in refused))
    if as_json:
        done = [
            {"action": o.operation.action, "id": o.id, "old": o.old, "new": o.new} for o in report.outcomes
        ]
        return print_json({"done": done, "usage": report.view.usage})
    for outcome in report.outcomes:
        what = outcome.operation.action if outcome.changed else "stands already"
        click.echo(f"{what} [{outcome.id}] {plain(outcome.new or outcome.old)}")
    click.echo(report.view.usage)
    return None
