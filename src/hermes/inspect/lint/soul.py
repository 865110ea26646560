"""SOUL.md says who answers, everywhere. Paths, ports and commands belong to one project's AGENTS.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes.inspect.lint.finding import Finding, finding
from hermes.inspect.lint.subject import Subject

_FACTS: tuple[re.Pattern[str], ...] = (
    re.compile(  # a path with an ending
        r"(?<![\w/:.@])(?:\.{0,2}/)?(?:[\w.-]+/)+[\w-]+\.(?:py|tsx?|jsx?|go|rs|java|rb|php|c|cpp|h|cs|sql|ya?ml"
        r"|toml|json|sh|md|html|css)\b"
    ),
    re.compile(r"(?:\bport\s*[:=]?\s*`?|\blocalhost:|\b127\.0\.0\.1:|\b0\.0\.0\.0:)\d{2,5}\b", re.I),
    re.compile(  # a command
        r"`(?:\$ )?(?:make|npm|pnpm|yarn|bun|npx|pytest|cargo|go|uv|poetry|pip|docker|docker-compose"
        r"|kubectl|just|mvn|gradle|\./gradlew)\s[^`]+`"
    ),
)


def check(subject: Subject) -> Iterator[Finding]:
    for source in subject.sources:
        if source.kind != "identity":
            continue
        for line in source.document.lines:
            for match in (found for pattern in _FACTS for found in pattern.finditer(line.text)):
                message = (
                    f"{match[0].strip('`')} is a fact of one project, and SOUL.md goes with you everywhere; "
                    "move it to that project's AGENTS.md"
                )
                yield finding("soul-fact", source.within(line, *match.span()), message, match[0])
