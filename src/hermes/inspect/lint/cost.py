"""What the prompt costs, and rules that cost without telling anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes.frozen import frozen
from hermes.inspect.lint.finding import Finding, Place, finding
from hermes.inspect.lint.subject import Source, Subject


@frozen
class Limits:
    """In tokens, lines, and shares from 0 to 1."""

    section_tokens: int = 4_000
    section_share: float = 0.5
    prompt_share: float = 0.1
    file_lines: int = 500
    file_tokens: int = 5_000


LIMITS = Limits()
_WHOLE = "(system prompt)"
_VAGUE = re.compile(
    r"(?:(?:please|always|you should|you must|make sure to|be sure to|try to)\s+)?(?:"
    r"(?:write|use|produce|create|keep|maintain|ensure)\s+(?:the\s+|your\s+)?(?:(?:clean|good"
    r"|high[- ]quality|quality|readable"
    r"|maintainable|elegant|nice|proper|well[- ]structured|robust|efficient|simple|clear)(?:,|\s|and)*)+\s*"
    r"(?:code|codebase|solutions?|style|quality|practices)"
    r"|follow\s+(?:the\s+|all\s+|industry\s+|coding\s+|general\s+|standard\s+)*best\s+practices"
    r"|be\s+(?:careful|smart|helpful|thorough|professional|mindful|diligent)"
    r"|(?:do|try)\s+your\s+best|think\s+(?:carefully|hard)|use\s+common\s+sense|write\s+good\s+tests"
    r"|handle\s+(?:all\s+)?errors\s+(?:properly|gracefully|appropriately|correctly)"
    r"|use\s+(?:meaningful|descriptive|good)\s+(?:variable\s+|function\s+)?names"
    r")(?:\s+(?:at all times|always|everywhere|when possible|where possible))?[.!]*",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Finding]:
    yield from _sizes(subject)
    for source in subject.sources:
        if source.reachable:
            yield from _length(source, subject)
            yield from _vague(source, subject)


def _sizes(subject: Subject) -> Iterator[Finding]:
    total = subject.count(subject.prompt.text) or 1
    for section in subject.prompt.sections:
        tokens = subject.count(section.text)
        if tokens > LIMITS.section_tokens and tokens > LIMITS.section_share * total:
            message = (
                f"the section {section.slot} takes {tokens:,} tokens, {tokens / total:.0%} of the prompt; "
                "hermes prompt explain shows which file"
            )
            yield finding("cost-section", Place(_WHOLE), message, section.slot, tokens=tokens)
    if subject.window and total > LIMITS.prompt_share * subject.window:
        message = (
            f"the prompt takes {total:,} tokens, {total / subject.window:.0%} of the context window "
            f"of {subject.window:,}; over {LIMITS.prompt_share:.0%} leaves little for the work"
        )
        yield finding("cost-prompt", Place(_WHOLE), message, "prompt", tokens=total)


def _length(source: Source, subject: Subject) -> Iterator[Finding]:
    lines = len(source.document.lines)
    tokens = subject.count(source.document.text)
    if lines > LIMITS.file_lines or tokens > LIMITS.file_tokens:
        message = (
            f"{lines:,} lines, {tokens:,} tokens: rules are followed less the more there are; "
            f"keep a rule file under {LIMITS.file_lines} lines and {LIMITS.file_tokens:,} tokens"
        )
        yield finding("cost-file", Place(source.file), message, "length", tokens=tokens)


def _vague(source: Source, subject: Subject) -> Iterator[Finding]:
    for statement in source.document.statements:
        if len(statement.text) <= 120 and _VAGUE.fullmatch(statement.text):
            message = "nobody could say whether this was followed; name what you want to see, or leave it out"
            yield finding(
                "vague-rule",
                source.at(statement),
                message,
                statement.text,
                tokens=subject.count(statement.text),
            )
