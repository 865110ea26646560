"""Long pastes: in the input stands a short label, and the text takes its place when it is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hermes.text import many

LINES = 8
CHARS = 1000
_LABEL = re.compile(r"\[pasted [\d,]+ lines? #(\d+)\]")


@dataclass(slots=True)
class Pastes:
    """The pastes of this conversation by their number, from 1."""

    texts: list[str] = field(default_factory=list)

    def fold(self, data: str) -> str:
        """What is put into the input for pasted text: itself, or a label when it is long."""
        text = data.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= LINES and len(text) <= CHARS:
            return text
        self.texts.append(text)
        return f"[pasted {many(lines, 'line')} #{len(self.texts)}]"

    def unfold(self, text: str) -> str:
        """The text with every label replaced by what was pasted."""
        return _LABEL.sub(self._pasted, text)

    def _pasted(self, found: re.Match[str]) -> str:
        number = int(found[1])
        return self.texts[number - 1] if 0 < number <= len(self.texts) else found[0]


def has_label(text: str) -> bool:
    return bool(_LABEL.search(text))
