"""`hermes prompt refresh`."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from datetime import datetime

import click

from hermes.agent.guard import price_of
from hermes.agent.prompt_builder import Sources
from hermes.agent.session import Session
from hermes.agent.system_prompt import load_sources
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, build, configured_profile, prompt_options
from hermes.cli.screen import show_notices
from hermes.cli.stored import with_store
from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.inspect.diff import SectionDiff, Side, diff_prompts
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store

HOLDER = "hermes prompt refresh"


@click.command("refresh")
@click.argument("name", metavar="SESSION")
@prompt_options
@click.option("-y", "--yes", is_flag=True, help="Do it without asking.")
@as_json_option
def command(asked: Asked, name: str, yes: bool, as_json: bool) -> None:
    """Build the prompt of a stored session anew. What changes, and what that costs, is told first.

    The conversation goes on behind the new prompt; the provider reads everything once more.
    """

    sources = load_sources()

    async def go(store: Store) -> None:
        session_id = await store.resolve(name)
        await store.claim(session_id, HOLDER)
        try:
            session = await Session.resume(store, session_id, lambda: datetime.now().astimezone())
            built = build(_asked(asked, session), None if asked.model else _same(sources, session))
            show_notices(built.notices, quiet=True)
            changed = _changed(session, built.prompt, built.facts.model)
            if not as_json:
                _tell(session, changed, built.facts.model)
            agreed = bool(changed) and (yes if as_json else _agreed(yes))
            if agreed:
                session.new_epoch("refresh", built.prompt, session.visible)
                await session.save()
            if as_json:
                rows = [asdict(s) for s in changed]
                print_json({"session": session_id, "refreshed": agreed, "changed": rows})
            elif agreed:
                click.echo(f"The prompt of session {session_id} was built anew.")
        finally:
            await store.release(session_id, HOLDER)

    with_store(sources, go)


def _asked(asked: Asked, session: Session) -> Asked:
    """The options, with the session's own facts where they say nothing."""
    record = session.record
    provider = record.provider.partition("@")[0]  # the name that config.yaml has, without its address
    name = f"{provider}:{record.model}" if provider else record.model
    tools = ",".join(t.name for t in session.tools)
    return replace(
        asked,
        session=record.id,
        platform=record.platform,
        model=asked.model or name,
        tools=tools if asked.tools is None else asked.tools,
    )


def _same(sources: Sources, session: Session) -> ModelProfile | None:
    """The configured model, where it is the one that the session was last with."""
    found, record = configured_profile(sources), session.record
    same = found is not None and (found.provider, found.name) == (record.provider, record.model)
    return found if same else None


def _changed(session: Session, prompt: SystemPrompt, profile: ModelProfile) -> list[SectionDiff]:
    """The sections that would change; the session line, which always does, is no reason."""
    diff = diff_prompts(Side("now", session.prompt), Side("then", prompt), profile)
    return [s for s in diff.sections if s.change != "same" and s.section != "session line"]


def _tell(session: Session, changed: list[SectionDiff], profile: ModelProfile) -> None:
    """Say what would change and what it would cost."""
    if not changed:
        return click.echo("Nothing in the prompt has changed.")
    for s in changed:
        because = f" ({'; '.join(s.causes)})" if s.causes else ""
        click.echo(
            f"{s.tier} / {s.section}: {s.change}, {s.tokens_before:,} → {s.tokens_after:,} tokens{because}"
        )
    price = str(price_of(session, profile, session.clock()))
    return click.echo(f"{price[:1].upper()}{price[1:]}.")


def _agreed(yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("say --yes to do it; nothing was changed")
    return click.confirm("Build it anew?")
