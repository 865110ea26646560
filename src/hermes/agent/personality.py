"""The personalities: fifteen that come with Hermes, and the owner's own from `agent.personalities`.

A personality adds a tone to one session. It rides on the call as an overlay, never in the cached prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, Passage, Span, digest_of

NONE = "none"
"""The name that takes a personality off again."""

# The texts are `prompts/personalities/NAME.md`; the order is that of the list people see.
PRESETS: Mapping[str, str] = {
    "helpful": "friendly and attentive, in everyday words",
    "concise": "the answer and nothing else",
    "technical": "expert to expert, exact and detailed",
    "creative": "several unexpected ideas, then a pick",
    "teacher": "patient, step by step, with examples",
    "kawaii": "sweet and sunny, with a sparkle",
    "catgirl": "playful and curious, nya",
    "pirate": "a good-humoured captain, matey",
    "shakespeare": "the Elizabethan stage",
    "surfer": "laid-back and stoked",
    "noir": "a detective in the rain",
    "uwu": "soft uwu style",
    "philosopher": "questions what the question assumes",
    "hype": "high energy, honest about risks",
    "socratic": "leads to the answer by questions",
}
_FIELDS = ("system_prompt", "tone", "style", "description")


@frozen
class Personality:
    """A tone for a session. `description` is for the list; a `custom` text has still to pass the gate."""

    name: str
    text: Passage
    description: str
    custom: bool = False


def personalities(
    custom: Mapping[str, object], path: str = "config.yaml"
) -> tuple[tuple[Personality, ...], tuple[Notice, ...]]:
    """All personalities: the built-in ones in their order, then the owner's by name.

    An owner's personality takes the place of a built-in one of the same name. What is malformed is left
    out with a notice. `custom` holds the values of `agent.personalities` as the file at `path` gave them.
    """
    known = {
        name: Personality(name, prompt_text(f"personalities/{name}"), description)
        for name, description in PRESETS.items()
    }
    seen: dict[str, str] = {}
    notices: list[Notice] = []
    origin = Origin("config", path, trust="owner")
    for given in sorted(custom, key=str):
        key = f"agent.personalities.{given}"
        made, problems = _read_entry(given, key, custom[given], path)
        notices += (Notice("warning", f"{key} {problem}", origin) for problem in problems)
        if made is None:
            continue
        if made.name in seen:
            text = f"{key} has the name of {seen[made.name]} and was left out"
            notices.append(Notice("warning", text, origin))
            continue
        if made.name in PRESETS:
            notices.append(Notice("info", f"your personality {made.name} replaces the built-in one", origin))
        seen[made.name] = key
        known[made.name] = made
    return tuple(known.values()), tuple(notices)


def find_personality(name: str, known: Iterable[Personality]) -> Personality | None:
    """The personality of that name in any case; None for `none`. UsageError when it does not exist."""
    wanted = _name(name)
    if wanted == NONE:
        return None
    by_name = {personality.name: personality for personality in known}
    if wanted in by_name:
        return by_name[wanted]
    from hermes.config.forms import nearest

    near = nearest(wanted, tuple(by_name))
    advice = f"did you mean {near}?" if near else f"there are {', '.join(by_name)}, and none to clear it"
    raise UsageError(f"no personality {wanted!r}; {advice}")


def _read_entry(name: object, key: str, entry: object, path: str) -> tuple[Personality | None, list[str]]:
    """The owner's personality, or None, and what is wrong with its entry."""
    wanted = _name(name) if isinstance(name, str) else ""
    if not wanted:
        return None, ["has a name that is no text and was left out; put the name in quotes"]
    if wanted == NONE:
        return None, ["was left out: the name none is what clears a personality"]
    fields, problems = _read_fields({"system_prompt": entry} if isinstance(entry, str) else entry)
    text = _text(fields)
    if not text:
        expected = "expected a text, or a map with system_prompt, tone or style as text"
        return None, [*problems, f"gives no text and was left out; {expected}"]
    description = fields.get("description") or text.partition("\n")[0]
    return Personality(wanted, _passage(text, key, path), _short(description), True), problems


def _read_fields(entry: object) -> tuple[dict[str, str], list[str]]:
    fields: dict[str, str] = {}
    problems: list[str] = []
    if not isinstance(entry, Mapping):
        return fields, problems
    for field in sorted(entry, key=str):
        value = entry[field]
        if field not in _FIELDS:
            problems.append(
                f"has the unknown field {field}, which was ignored; known are {', '.join(_FIELDS)}"
            )
        elif isinstance(value, str):
            fields[str(field)] = value.strip()
        else:
            problems.append(f"has a {field} that is no text; it was ignored")
    return fields, problems


def _text(fields: Mapping[str, str]) -> str:
    labelled = (("", "system_prompt"), ("Tone: ", "tone"), ("Style: ", "style"))
    return "\n".join(label + fields[name] for label, name in labelled if fields.get(name))


def _passage(text: str, key: str, path: str) -> Passage:
    origin = Origin("personality", path, digest_of(text), trust="owner")
    return Passage(text, (Span(0, len(text), origin, (key,)),))


def _name(name: str) -> str:
    return " ".join(name.split()).lower()


def _short(text: str, limit: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + "…"
