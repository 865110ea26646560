"""What manuals are made of: names of program text, and what an option does."""

from __future__ import annotations

from hermes.security.expressions import compiled

# A call, a joined name, the type of what comes back, a list that is assigned; and a place to be filled in.
_NAMES = r"[a-z0-9]_[a-z0-9]|[a-z]\.[a-z]\w*\(|\)\s?:|=\s?[\[{]"
_FILLED_IN = r"\W{0,2}\s?\{\{?\w"
# "- `--yes`: ", "| `-y` | ", "- `/plan --quick` - ": a flag and what leads from it to what it does.
_FLAG = (
    r"[ \t>|*+-]{0,8}`?(?:/?[\w-]{1,30} )?-{1,2}[a-z][\w-]{0,30}[^\n.!?]{0,60}?"
    r"(?:`|\s)[ \t]{0,3}(?:[-:|\u2013\u2014]|  )[^\n.!?]{0,24}$"
)
# "- **Skip review** - ": one of several ways to go on.
_CHOICE = r"[ \t]{0,8}[-*+]\s\*\*[^*\n]{3,60}\*\*[ \t]{0,2}[-:\u2013\u2014]"
# "# ", and in the next line a command with flags.
_REMARK = r"[ \t]*(?:#|//)\s?[^\n.!?]{0,24}$"
_COMMAND = (
    r"\n[ \t]*(?:(?:\$ )?(?:[\w./-]{1,40} ){1,3}[^\n#]{0,160}?-{1,2}[a-z]"
    r"|[\"']?-{1,2}[a-z][\w-]{1,30}[= \"'])"
)


def names(text: str, start: int, end: int) -> bool:
    """Whether a passage of program text is made of names and types, and no sentence."""
    near = text[max(0, start - 1) : min(len(text), end + 2)]
    return bool(compiled(_NAMES).search(near) or compiled(_FILLED_IN).match(text, end))


def explains_option(text: str, line: tuple[int, int], start: int, fenced: bool) -> bool:
    """Whether the passage at `start` in a line says what an option does, or is one of several choices."""
    begin, end = line
    if compiled(_FLAG).match(text, begin, start) or compiled(_CHOICE).match(text, begin, end):
        return True
    remark = fenced and compiled(_REMARK).match(text, begin, start)
    return bool(remark and compiled(_COMMAND).match(text, end))
