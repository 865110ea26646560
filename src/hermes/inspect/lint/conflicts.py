"""Rules that cannot both be followed. The model picks one; nobody knows which.

Precision comes first: only plain directives count (`use X`, `never use X`, `X: label`), and a statement that
is bound to a language, a folder or a condition is compared with none. Both places are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple

from hermes.inspect.lint.choices import CHOICES, MEASURES, NUMBERS, Choice
from hermes.inspect.lint.finding import Finding, Place, finding
from hermes.inspect.lint.hedges import UNSURE_ABOVE
from hermes.inspect.lint.markdown import Statement
from hermes.inspect.lint.shell import calls
from hermes.inspect.lint.subject import Source, Subject

_SCOPED = re.compile(
    r"\b(?:for|in|when|if|unless|except|inside|within|on|during|under|until|while|where|legacy|old"
    r"|some|sometimes|may|can|could"
    r"|might|e\.g|example|whether|depending|either|default)\b|\?",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(
    r"\b(?:for|in)\s+(?:all\s+|every\s+|any\s+|the\s+|this\s+|our\s+|your\s+)*(?:indentation|indents?"
    r"|indenting|package management|packages?"
    r"|dependenc(?:y|ies)(?: management)?|tests?|testing|unit tests?|strings?|string literals|code"
    r"|codebase|files?|project|repo|repository"
    r"|everything|everywhere|formatting|lines?|modules?|components?|responses?|answers?|replies|languages?)\b"
    r"|\bby default\b",
    re.IGNORECASE,
)
_AREA = re.compile(
    r"\b(?:python|typescript|javascript|js|ts|tsx|jsx|go|golang|rust|java|kotlin|swift|ruby|php|c\+\+"
    r"|c#|css|scss|html|yaml|json|toml|sql"
    r"|shell|bash|makefile|markdown|frontend|front-end|backend|back-end|client|server|web|mobile|api"
    r"|docs?|e2e|unit|integration|ci"
    r"|docker|admin|ui)\b",
    re.IGNORECASE,
)
_FOR = (
    r"(?:\b(?:use|uses|using|prefer|prefers|require|requires|stick (?:to|with)|switch to|indent(?:ed"
    r"|ation)?(?: is)? with|indent using"
    r"|respond|reply|answer|write|speak|communicate|managed (?:by|with)|we use)\b)"
)
_AGAINST = (
    r"(?:\b(?:never|do not|don['’]?t|avoid|must not|mustn['’]?t|should not|shouldn['’]?t|cannot|no"
    r"|not|instead of|rather than|over|without"
    r"|stop|forbid)(?:\s+(?:ever\s+)?(?:use|uses|using|run|running|respond|reply|answer|write"
    r"|indent(?: with)?))?\b)"
)
_FILLER = r"(?:[\s`\"'*_:]|\b(?:the|a|an|only|exclusively|strictly|just|always|our|with|via)\b)*"
_MAYBE = re.compile(
    r"\b(?:can|may|could|might|if|when|whether|to|or|also|they|would|optionally|who|that"
    r"|which)\s+(?:you\s+|we\s+)?$",
    re.I,
)
_AFTER_AGAINST = re.compile(
    r"[\s`*\"']*(?:is|are)\s+(?:not\s+(?:allowed|supported|permitted|used)|forbidden|prohibited"
    r"|banned|deprecated)",
    re.I,
)

_LONGEST = 400  # characters; what is longer is no plain directive


class _Stand(NamedTuple):
    """What one place says: an answer to a choice, wanted or not."""

    option: str
    wanted: bool
    area: frozenset[str]
    source: Source
    place: Place
    text: str


def check(subject: Subject) -> Iterator[Finding]:
    sources = [s for s in subject.sources if s.document.text and s.verdict != "blocked"]
    for choice in CHOICES:
        stands = [stand for source in sources for stand in _stands(choice, source)]
        if choice.commands:
            stands += _by_commands(choice, sources, {s.source.file for s in stands})
        yield from _disagreements(choice.subject, stands)
    for measure in MEASURES:
        yield from _disagreements(measure.subject, list(_measured(measure.pattern, sources)))


def _stands(choice: Choice, source: Source) -> Iterator[_Stand]:
    hints, pattern = choice.hints, _compiled(choice)
    for statement in source.document.statements:
        text = statement.text
        if len(text) > _LONGEST or not _hinted(text.lower(), hints):
            continue
        if not pattern.search(text) or not _plain(statement, pattern):
            continue
        if choice.about and not re.search(choice.about, f"{statement.above}\n{text}", re.I):
            continue
        found = list(_answers(choice, text))
        if len({option for option, is_wanted in found if is_wanted}) > 1 or _offers_more(choice, text, found):
            continue  # alternatives
        for option, is_wanted in dict.fromkeys(found):
            yield _Stand(option, is_wanted, _area(statement, text), source, source.at(statement), text)


def _offers_more(choice: Choice, text: str, found: list[tuple[str, bool]]) -> bool:
    """Whether a statement names an option that it neither asks for nor forbids."""
    answered = {option for option, _ in found}
    named = {m.lastgroup for m in _compiled(choice).finditer(text)}
    return any(f"o{i}" in named for i, (option, _) in enumerate(choice.options) if option not in answered)


def _hinted(text: str, hints: tuple[str, ...]) -> bool:
    return any(hint in text for hint in hints)


@cache
def _compiled(choice: Choice) -> re.Pattern[str]:
    every = "|".join(f"(?P<o{i}>{pattern})" for i, (_, pattern) in enumerate(choice.options))
    return re.compile(rf"(?<![\w/.@-])(?:{every})(?![\w/@-]|\.\w)", re.I)


@cache
def _governed(choice: Choice) -> re.Pattern[str]:
    options = "|".join(f"(?P<o{i}>{pattern})" for i, (_, pattern) in enumerate(choice.options))
    alone = r"|(?P<alone>(?:^|[,;:(])\W*(?=[^,;:]{1,40}(?:$|[,;.)])))" if choice.alone else ""
    label = rf"|(?P<label>\b(?:{choice.label})\W{{1,6}}(?:is\s+)?)" if choice.label else ""
    return re.compile(
        rf"(?:(?P<against>{_AGAINST})|(?P<for>{_FOR}){label}{alone}){_FILLER}(?:{options})(?![\w/@-]|\.\w)",
        re.I,
    )


def _answers(choice: Choice, text: str) -> Iterator[tuple[str, bool]]:
    for match in _governed(choice).finditer(text):
        index = next(i for i in range(len(choice.options)) if match[f"o{i}"] is not None)
        wanted = match["against"] is None and not _AFTER_AGAINST.match(text, match.end())
        if wanted and match["for"] is not None and _MAYBE.search(text[: match.start()]):
            continue
        yield choice.options[index][0], wanted


def _plain(statement: Statement, option: re.Pattern[str] | None = None) -> bool:
    """Whether a statement holds everywhere, as a rule and not as a condition, a question or a bad example."""
    if UNSURE_ABOVE.search(statement.above):
        return False
    text = _EVERYWHERE.sub(" ", statement.text)
    if option is not None:
        text = option.sub(" ", text)
    return not _SCOPED.search(text)


def _area(statement: Statement, text: str) -> frozenset[str]:
    """The languages and parts of a project that a statement is about, by its text and what stands above."""
    return frozenset(word.lower() for word in _AREA.findall(f"{statement.above}\n{text}"))


def _by_commands(choice: Choice, sources: list[Source], answered: set[str]) -> Iterator[_Stand]:
    """A file that only ever runs one of the programs stands for it, unless it says so in words."""
    names = {name for name, _ in choice.options}
    for source in sources:
        if source.file in answered:
            continue
        used = [call for call in calls(source) if call.words[0] in names and _is_use(call.words)]
        if len({call.words[0] for call in used}) == 1:
            call = used[0]
            place = source.within(call.line, call.start, call.end)
            yield _Stand(call.words[0], True, frozenset(), source, place, " ".join(call.words))


def _is_use(words: tuple[str, ...]) -> bool:
    return (
        len(words) > 1
        and words[1] in ("install", "i", "ci", "run", "test", "add", "build", "start", "dev")
        and "-g" not in words
    )


def _measured(pattern: re.Pattern[str], sources: list[Source]) -> Iterator[_Stand]:
    for source in sources:
        for statement in source.document.statements:
            match = pattern.search(statement.text) if len(statement.text) <= _LONGEST else None
            if match is None or UNSURE_ABOVE.search(statement.above):
                continue
            found = match.groupdict()
            value = found["value"] or found.get("value2") or ""
            value = NUMBERS.get(value.lower(), value)
            least = bool(found.get("least") or found.get("least2"))
            rest = pattern.sub(" ", _EVERYWHERE.sub(" ", statement.text))
            if not _SCOPED.search(rest):
                option = value + "+" * least
                yield _Stand(
                    option, True, _area(statement, rest), source, source.at(statement), statement.text
                )


def _disagreements(subject: str, stands: list[_Stand]) -> Iterator[Finding]:
    """One finding for each pair of answers that exclude each other, at the first places that say so."""
    firsts: dict[tuple[str, bool, frozenset[str]], _Stand] = {}
    for stand in sorted(stands, key=lambda stand: not stand.source.reachable):
        firsts.setdefault((stand.option, stand.wanted, stand.area), stand)
    told: set[tuple[Place, Place]] = set()
    for one, other in combinations(firsts.values(), 2):
        rule = _exclude(one, other)
        places = (one.place, other.place)
        if rule and places not in told and one.place != other.place:
            told.add(places)
            yield _conflict(rule, subject, one, other)


def _exclude(one: _Stand, other: _Stand) -> str:
    """The rule that two answers break together, "" when both can be followed."""
    if one.area != other.area or not (one.source.reachable or other.source.reachable):
        return ""
    if one.wanted and other.wanted:
        return "" if _compatible(one.option, other.option) else "conflict-choice"
    return "conflict-polarity" if one.wanted != other.wanted and one.option == other.option else ""


def _compatible(one: str, other: str) -> bool:
    """Equal answers, or a number that satisfies a lower bound."""
    if one == other:
        return True
    if one.endswith("+") and other.endswith("+"):
        return False
    bound, value = (one, other) if one.endswith("+") else (other, one)
    return bound.endswith("+") and _version(value) >= _version(bound[:-1])


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _conflict(rule: str, subject: str, earlier: _Stand, later: _Stand) -> Finding:
    def said(stand: _Stand) -> str:
        return stand.option if stand.wanted else f"not {stand.option}"

    both = later.source.reachable and earlier.source.reachable
    message = f"{subject}: {said(later)} here, but {said(earlier)} at {earlier.place}; keep one of the two"
    if not both:
        message += " (only one of the files is loaded, other tools may read the other)"
    return finding(
        rule,
        later.place,
        message,
        f"{later.text}\n{earlier.text}",
        related=(earlier.place,),
        level=None if both else "note",
    )
