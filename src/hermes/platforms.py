"""The surfaces Hermes speaks on: what each can show, and the hint that tells the model so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from hermes.frozen import frozen
from hermes.prompts import prompt_text
from hermes.provenance import Level, Notice, Origin, Passage, Span, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policies

Markdown = Literal["none", "limited", "full"]
Problem = tuple[Level, str]
MODES = ("replace", "append")
"""What an override does to a hint; where both are given the first counts."""


@frozen
class Platform:
    """One surface. `markdown` is what its readers see rendered; `max_message_chars` what one message holds.

    A limit that the service states in bytes is given in characters of three bytes. `text` names the hint
    under `prompts/platform_hints/` (default: the platform's own name); a plugin brings its hint in `hint`.
    """

    name: str
    label: str
    markdown: Markdown = "none"
    max_message_chars: int | None = None
    tables: bool = False
    media: bool = False
    text: str = ""
    hint: Passage | None = None

    @property
    def built_in_hint(self) -> Passage:
        """The hint before any override."""
        if self.hint is not None:
            return self.hint
        return prompt_text(f"platform_hints/{self.text or self.name}")

    def as_plain(self) -> Platform:
        """The same surface with its rendering switched off by a setting: nothing is promised of it."""
        return replace(self, markdown="none", tables=False, text="plain", hint=None)


# Limits as the services documented them in 2025 and 2026. Slack cuts at 40,000 and advises 4,000; one SMS
# part is 160, a joined message 1,600; Mattermost and Rocket.Chat can be configured; Teams takes 80 KB of
# UTF-16; Google Chat 32,000 bytes; WeChat 2,048 bytes; Feishu 30 KB, DingTalk 20,000 bytes; a Matrix event
# 64 KB with its envelope; an IRC line 512 bytes with its prefix.
BUILT_IN: tuple[Platform, ...] = (
    Platform("acp", "Code editor (ACP)", "full", tables=True),
    Platform("api", "API", "full", tables=True, media=True),
    Platform("cli", "Command line"),
    Platform("cron", "Scheduled job", "full"),
    Platform("dingtalk", "DingTalk", "limited", 6_600, media=True),
    Platform("discord", "Discord", "limited", 2_000, media=True),
    Platform("email", "E-mail", media=True),
    Platform("feishu", "Feishu", "limited", 10_000, media=True),
    Platform("google_chat", "Google Chat", "limited", 10_600, media=True),
    Platform("home_assistant", "Home Assistant"),
    Platform("imessage", "iMessage", media=True),
    Platform("irc", "IRC", "none", 400),
    Platform("line", "LINE", "none", 5_000, media=True),
    Platform("matrix", "Matrix", "limited", 16_000, media=True),
    Platform("mattermost", "Mattermost", "full", 16_383, tables=True, media=True),
    Platform("rocketchat", "Rocket.Chat", "limited", 5_000, media=True),
    Platform("signal", "Signal", media=True),
    Platform("slack", "Slack", "limited", 4_000, media=True),
    Platform("sms", "SMS", "none", 1_600),
    Platform("teams", "Microsoft Teams", "limited", 26_000, media=True),
    Platform("telegram", "Telegram", "limited", 4_096, media=True),
    Platform("tui", "Terminal application", "full", tables=True),
    Platform("voice", "Voice"),
    Platform("web", "Web chat", "full", tables=True, media=True),
    Platform("webhook", "Webhook"),
    Platform("wechat", "WeChat", "none", 680, media=True),
    Platform("whatsapp", "WhatsApp", "limited", 4_096, media=True),
    Platform("zulip", "Zulip", "full", 10_000, tables=True, media=True),
)


@frozen
class Platforms:
    """The built-in surfaces and those that plugins brought; of one name the registered one counts."""

    registered: tuple[Platform, ...] = ()

    def with_(self, *platforms: Platform) -> Platforms:
        """These and more; of one name the last counts."""
        return Platforms((*self.registered, *platforms))

    def get(self, name: str) -> Platform | None:
        """The platform of that name, whatever its case; None when there is none."""
        wanted = name.strip().lower()
        rows = (*reversed(self.registered), *BUILT_IN)
        return next((row for row in rows if row.name == wanted), None)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted({row.name for row in (*self.registered, *BUILT_IN)}))


class _Hints(Mapping[str, str]):
    """Read-only; a text is read from disk when it is asked for."""

    def __getitem__(self, name: str) -> str:
        for row in BUILT_IN:
            if row.name == name:
                return str(row.built_in_hint)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in BUILT_IN)

    def __len__(self) -> int:
        return len(BUILT_IN)


PLATFORM_HINTS: Mapping[str, str] = _Hints()
"""The built-in hint of each platform, before any override of config.yaml."""


def resolve_hint(
    platform: str,
    overrides: Mapping[str, object],
    platforms: Platforms | None = None,
    policies: Policies | None = None,
    path: str = "config.yaml",
    lines: Mapping[str, tuple[int, int]] | None = None,
) -> Passage:
    """The hint for a platform after its entry of `platform_hints`, with notices about that entry.

    An appended text follows after a blank line. A malformed or blocked entry leaves the hint as it was; a
    platform that nobody knows has no hint of its own. `overrides` holds the values as the file at `path`
    gave them, `lines` where it has them. Never raises.
    """
    rules = policies or Policies()
    row = (platforms or Platforms()).get(platform)
    hint = _admitted_hint(row, rules) if row else Passage()
    name = platform.strip().lower()
    if name not in overrides:
        return hint
    key = f"platform_hints.{name}"
    mode, text, problems = _read_override(key, overrides[name])
    place = (lines or {}).get(key if isinstance(overrides[name], str) else f"{key}.{mode}", (0, 0))
    origin = Origin("config", path, digest_of(text), *place, trust="owner")
    hint = hint.with_notes(Notice(level, problem, origin) for level, problem in problems)
    if not mode:
        return hint
    own = Passage(text, (Span(0, len(text), origin, (f"{mode} of {key}",)),))
    admitted = admit(own, name=key, policy=rules.of("owner"))
    if admitted.outcome == "blocked":
        return hint.with_notes(admitted.passage.notices)
    if mode == "append":
        return Passage.joined("\n\n", (hint, admitted.passage))
    return admitted.passage.with_notes(hint.notices)


def unused_overrides(
    overrides: Mapping[str, object], platforms: Platforms | None = None, path: str = "config.yaml"
) -> tuple[Notice, ...]:
    """A notice for each entry of `platform_hints` that names no platform there is."""
    from hermes.config.forms import nearest

    known = (platforms or Platforms()).names
    notices = []
    for name in sorted(set(overrides) - set(known), key=str):
        near = nearest(str(name).lower(), known)
        meant = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
        text = f"platform_hints.{name} names no platform that is known; {meant}"
        notices.append(Notice("warning", text, Origin("config", path, trust="owner")))
    return tuple(notices)


def _admitted_hint(row: Platform, policies: Policies) -> Passage:
    """A hint of our own as it is; one that a plugin brought, through the gate."""
    if row.hint is None:
        return row.built_in_hint
    admitted = admit(row.hint, name=f"the hint of platform {row.name}", policy=policies.of("third_party"))
    return Passage("", (), admitted.passage.notices) if admitted.outcome == "blocked" else admitted.passage


def _read_override(key: str, entry: object) -> tuple[str, str, tuple[Problem, ...]]:
    """The mode (`append`, `replace`, or "" for none), its text, and what a person should know."""
    given = {"append": entry} if isinstance(entry, str) else entry
    if not isinstance(given, Mapping):
        return _malformed(f"{key} is {_kind(given)}")
    problems = tuple(_unknown(key, k) for k in sorted(given, key=str) if k not in MODES)
    modes = [mode for mode in MODES if mode in given]
    if not modes:
        return _malformed(f"{key} has neither append nor replace", problems)
    for mode in modes:
        value = given[mode]
        if not isinstance(value, str) or not value.strip():
            place = key if isinstance(entry, str) else f"{key}.{mode}"
            return _malformed(f"{place} is {_kind(value)}", problems)
    if len(modes) > 1:
        problems += (("info", f"{key} has both replace and append; replace wins"),)
    return modes[0], given[modes[0]].strip(), problems


def _unknown(key: str, name: object) -> Problem:
    from hermes.config.forms import nearest

    near = nearest(str(name), MODES)
    meant = f"; did you mean {near}?" if near else "; known are append and replace"
    return "warning", f"{key} has the unknown key {name}, which was ignored{meant}"


def _malformed(what: str, problems: tuple[Problem, ...] = ()) -> tuple[str, str, tuple[Problem, ...]]:
    advice = "expected a text, or a map with append or replace as text. The built-in hint stands unchanged"
    return "", "", (*problems, ("warning", f"{what}; {advice}"))


def _kind(value: object) -> str:
    if value is None or isinstance(value, str):
        return "empty"
    names = {bool: "a yes/no value", int: "a number", float: "a number", list: "a list", tuple: "a list"}
    return names.get(type(value), "a map" if isinstance(value, Mapping) else f"a {type(value).__name__}")
