"""Whose host a command or an order names: one that the text speaks of, or a stranger's.

A guide that pipes an installer into a shell names what it installs. An order to fetch and run something, or
to send something away, names its host there and nowhere else.
"""

from __future__ import annotations

from functools import cached_property

from hermes.security.expressions import compiled

_ADDRESS = r"(?:https?://|(?<![\w.+-])[\w.+-]{1,64}@)[^\s\"'`|)>\\]{3,300}"
_DOMAIN = r"[\w-]+\.[\w-]+(?=:|$)"
# Hosts that many share: there the owner and the name of the project tell.
_SHARED = (
    r"git(?:hub|lab|ea)|bitbucket|codeberg|huggingface|npmjs|unpkg|jsdelivr|pypi|pythonhosted|google|amazonaws"
    r"|vercel|netlify|cloudfront|azure|sourceforge|gist"
)
# Where nobody but the service itself is at home.
_SIGN_IN = (
    r"https?://(?:accounts\.google|console\.cloud\.google|aistudio\.google|login\.microsoftonline|console\.aws\.amazon"
    r"|console\.anthropic|platform\.(?:openai|claude))\.com[/\s]|https?://github\.com/(?:login|settings)/"
)
_OWN = r"https?://(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|host\.|\[::1)"
# Words of addresses that do not tell one from another.
_SAYS_NOTHING = (
    r"https?|www|raw|com|org|net|dev|get|install(?:er)?|scripts?|main|master|latest|downloads?|releases?|setup"
    r"|bash|shell|blob|refs|heads|tags|cli|apps?|api|tools?|bin|linux|docs|static|cdn"
    r"|git(?:hub(?:usercontent)?|lab)"
    r"|agents?|helper|skills?|plugin|updater?|init|run|bootstrap|deploy|public|build|tests?|files?|payload|code"
    r"|start|env|server|user|config"
)
# Of more hosts than this no text that is a guide speaks: the others are strangers'.
_MOST = 40


class Hosts:
    """Which addresses in one text are those of what the text speaks of."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[str, str, str], bool] = {}

    def named(self, command: str) -> bool:
        """Whether the text speaks of the host of a command, or on shared hosts of the owner, in its prose."""
        found = compiled(_ADDRESS).search(command)
        if not found or compiled(_OWN).match(found[0]) or compiled(_SIGN_IN).match(found[0] + " "):
            return True
        host, _, path = compiled(r"[^/@]{1,64}(?://|@)").sub("", found[0], 1).partition("/")
        owner = "/".join(path.split("/")[:2]) if compiled(_SHARED).search(host) else ""
        short = compiled(r"([a-z]{2})/").match(path)  # astral.sh/uv/install.sh
        whose = host, owner, short[1] if short else ""
        if whose not in self._known and len(self._known) < _MOST:
            self._known[whose] = self._speaks_of(*whose)
        return self._known.get(whose, False)

    def _speaks_of(self, host: str, owner: str, short: str) -> bool:
        prose, joined = self._prose
        domain = compiled(_DOMAIN).search(host)
        if domain and domain[0] in prose:
            return True
        words = {w for w in compiled(r"[a-z0-9]{3,}").findall(f"{host}/{owner}") if not _says_nothing(w)}
        if any(word in joined for word in words):
            return True
        return bool(short and compiled(rf"(?<![a-z]){short}(?![a-z])").search(prose))

    @cached_property
    def _prose(self) -> tuple[str, str]:
        """The text without addresses; the same without what stands between letters: Oh My Zsh is ohmyzsh."""
        prose = compiled(_ADDRESS).sub(" ", self._text)
        return prose, compiled(r"[^a-z0-9\n]+").sub("", prose)


def _says_nothing(word: str) -> bool:
    return bool(compiled(_SAYS_NOTHING).fullmatch(word))
