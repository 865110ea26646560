"""What config.yaml says of a server, checked, with the variables that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import urlsplit

from hermes.config.masking import MASK, masked, names_secret
from hermes.config.records import McpConfig, secret
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import Notice, Origin

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}(?<!_)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_STDIO = frozenset({"command", "args", "env", "cwd"})
_HTTP = frozenset({"url", "headers"})


@frozen
class Server:
    """One server: a command that speaks over its standard input and output, or an address.

    `env` and `headers` are as they are sent; they and `secrets` are never shown. `only` names the tools that
    are taken, None for all.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    only: tuple[str, ...] | None = None
    enabled: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def kind(self) -> str:
        return "http" if self.url else "stdio"

    @property
    def place(self) -> str:
        """The command or address, fit to be shown."""
        shown = self.url or " ".join((self.command, *self.args))
        return self.hide(str(masked(shown)))

    def hide(self, text: str) -> str:
        """A text without this server's secrets."""
        for value in self.secrets:
            text = text.replace(value, MASK)
        return text


def servers(
    config: McpConfig, home: Home, variable: Callable[[str], str] = secret
) -> tuple[tuple[Server, ...], tuple[Notice, ...]]:
    """The servers by name; one that cannot be used is left out with a notice that says what to mend."""
    found: list[Server] = []
    notices: list[Notice] = []
    for name in sorted(config.servers):
        key = f"mcp.servers.{name}"
        problem, server = _read(name, config.servers[name], variable)
        if problem:
            origin = Origin("config", home.config, trust="owner")
            notices.append(Notice("error", f"{key} {problem}; the server is left out", origin))
        else:
            found.append(server)
    return tuple(found), tuple(notices)


def _read(name: str, given: Mapping[str, Any], variable: Callable[[str], str]) -> tuple[str, Server]:
    """What is wrong with an entry, "" for nothing, and the server."""
    nothing = Server(name)
    if not NAME.fullmatch(name):
        return "is no name for a server: letters, digits, - and single _, 32 at most", nothing
    if ("command" in given) == ("url" in given):
        what = "both a command and a url" if "url" in given else "neither a command nor a url"
        return f"has {what}; expected one of them", nothing
    wrong = sorted(given.keys() & (_STDIO if "url" in given else _HTTP))
    if wrong:
        return f"has {wrong[0]}, which does not go with {'url' if 'url' in given else 'command'}", nothing
    if "url" in given and not urlsplit(given["url"]).hostname:
        return f"has the url {given['url']!r} without a host", nothing
    filled: dict[str, dict[str, str]] = {"env": {}, "headers": {}}
    secrets: set[str] = set()
    for part, values in filled.items():
        for field_name, text in given.get(part, {}).items():
            missing = [v for v in _VARIABLE.findall(text) if not variable(v)]
            if missing:
                return f"names the variable {missing[0]} in {part}.{field_name}, which is not set", nothing
            values[field_name] = _VARIABLE.sub(lambda m: variable(m[1]), text)
            secrets.update(variable(v) for v in _VARIABLE.findall(text))
            if names_secret(field_name):
                secrets.update(values[field_name].split())
    kept = sorted((s for s in secrets if len(s) > 3), key=len, reverse=True)
    return "", Server(
        name,
        given.get("command", ""),
        tuple(given.get("args", ())),
        filled["env"],
        given.get("cwd", ""),
        given.get("url", ""),
        filled["headers"],
        given.get("tools"),
        given.get("enabled", True),
        tuple(kept),
    )
