"""The options of every command that looks at a prompt, and the prompt they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import click

from hermes.agent.first_use import met
from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY, Sources
from hermes.agent.system_prompt import (
    build_system_prompt,
    default_slots,
    load_sources,
    new_facts,
    working_directory,
)
from hermes.config.forms import nearest
from hermes.contracts import ModelProfile
from hermes.errors import ConfigError
from hermes.frozen import frozen
from hermes.paths import ensure_home
from hermes.prompt import PromptFacts, SystemPrompt
from hermes.provenance import Notice
from hermes.tool_names import TOOL_NAMES, TOOLSETS

_OPTIONS = (
    click.option("--cwd", default="", help="Work in this directory.", metavar="DIR"),
    click.option("--platform", default="cli", show_default=True, help="The surface that is spoken on."),
    click.option("--model", default="", help="The model, as provider:name or name.", metavar="MODEL"),
    click.option(
        "--tools", default=None, help="Names of the tools that are on, with commas.", metavar="NAMES"
    ),
    click.option("--at-time", default="", help="The time the session begins, in ISO 8601.", metavar="TIME"),
    click.option("--session", default="", help="The id of the session.", metavar="ID"),
)


@frozen
class Asked:
    """What the options ask for."""

    cwd: str = ""
    platform: str = "cli"
    model: str = ""
    tools: str | None = None
    at_time: str = ""
    session: str = ""


@frozen
class Built:
    """A prompt with all that it was built from. `notices` are those of home, configuration and prompt."""

    prompt: SystemPrompt
    facts: PromptFacts
    sources: Sources
    notices: tuple[Notice, ...]


def prompt_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a prompt; their values come as one `Asked` named `asked`."""
    from functools import wraps

    @wraps(command)
    def wrapped(**given: Any) -> None:
        names = Asked.__dataclass_fields__
        asked = Asked(**{name: given.pop(name) for name in names})
        command(asked=asked, **given)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def build(asked: Asked, profile: ModelProfile | None = None) -> Built:
    """Build the prompt that a new session would get. UsageError for an option that makes no sense.

    A `profile` stands in place of the model that is asked for.
    """
    sources = load_sources()
    notices = ensure_home(sources.home, DEFAULT_AGENT_IDENTITY + "\n")
    if profile is None and not asked.model:
        profile = configured_profile(sources)
    facts, more = facts_asked(asked, sources, profile)
    prompt = build_system_prompt(default_slots(sources), facts, config_digest=sources.config.digest)
    notices = (*notices, *sources.config.notices, *sources.notices, *more, *prompt.notices)
    return Built(prompt, facts, sources, (*notices, *met(sources.config, sources.home, prompt, facts)))


def configured_profile(sources: Sources) -> ModelProfile | None:
    """The model that answers when none is named, as the agent knows it; None where there is none."""
    from hermes.providers.resolve import resolve

    config = sources.config
    first = "" if config.model.provider else config.model.default.split(",")[0].strip()
    try:
        return resolve(first, config, sources.home)[1]
    except ConfigError:
        return None


def facts_asked(
    asked: Asked, sources: Sources, profile: ModelProfile | None = None
) -> tuple[PromptFacts, tuple[Notice, ...]]:
    """The facts that the options ask for, and what is to be said of the working directory.

    A `profile` stands in place of the model that is asked for.
    """
    workdir, notices = working_directory(sources.config, asked.cwd)
    model, provider = _model(asked.model)
    facts = new_facts(
        sources.config,
        cwd=workdir,
        platform=asked.platform,
        model=model,
        provider=provider,
        profile=profile,
        session_id=asked.session,
        now=_time(asked.at_time),
        tools=None if asked.tools is None else _names(asked.tools),
    )
    return facts, (*notices, *_unknown(asked, sources), *_unknown_model(asked.model, facts.model))


def _unknown(asked: Asked, sources: Sources) -> Iterator[Notice]:
    """Names that nothing goes by. They are no error: whoever builds on Hermes may have their own."""
    if sources.platforms.get(asked.platform) is None:
        yield _strange("surface", asked.platform, sources.platforms.names, "has no hint")
    own = {t.spec.name for t in sources.plugins.tools} if sources.plugins else set()
    known = (*TOOL_NAMES, *TOOLSETS, *sorted(own))
    for name in _names(asked.tools or ""):
        if name not in known and not name.startswith("mcp__"):
            yield _strange("tool", name, known, "brings no guidance")


def _unknown_model(name: str, profile: ModelProfile) -> Iterator[Notice]:
    """A word where so little is known of the model that was named that the prompt is one for any."""
    if not name or profile.context_window is not None:
        return
    from hermes.providers.facts import known_names

    near = nearest(profile.name, known_names())
    what = (
        "nothing" if profile.family == "unknown" else f"no context window, only the family {profile.family},"
    )
    advice = (
        f"did you mean {near}?" if near not in ("", profile.name) else "models in config.yaml can tell more"
    )
    yield Notice("warning", f"{what} is known of a model {name!r}; {advice}")


def _strange(what: str, name: str, known: tuple[str, ...], so: str) -> Notice:
    near = nearest(name, known)
    meant = f"; did you mean {near}?" if near else f"; known are {', '.join(known)}"
    return Notice("warning", f"no {what} is called {name!r}, so it {so}{meant}")


def _model(given: str) -> tuple[str, str]:
    provider, colon, name = given.partition(":")
    if colon and "/" not in provider and name and not name[0].isdigit():
        return name, provider
    return given, ""


def _names(given: str) -> tuple[str, ...]:
    return tuple(name for part in given.split(",") if (name := part.strip()))


def _time(given: str) -> datetime | None:
    if not given:
        return None
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise click.BadParameter(
            f"{given!r} is no time; expected ISO 8601, such as 2026-03-30T14:30:00-07:00",
            param_hint="--at-time",
        ) from None
    return moment if moment.tzinfo else moment.astimezone()
