"""A fuzz target: `python -m tests.security.fuzz_scan [SECONDS]` throws mutated rule text at the scanner.

A text is a failure when scanning raises, when a finding points outside the text, or when the work for it is
far above what its length allows.
"""

from __future__ import annotations

import random
import sys
import time

from hermes.security.compiler import families
from hermes.security.scan import scan

TRICKS = [
    "\u200b",
    "\u202e",
    "\U000e0041",
    "&#105;",
    "%41",
    "**",
    "`",
    "<b>",
    "<!--",
    "-->",
    "\n\n",
    "```\n",
    "\ud800",
    "а",
]


def seeds() -> list[str]:
    """All examples of all rules."""
    return [
        text
        for family in families()
        for kind in ("phrase", "shape")
        for rule in family.get(kind, ())
        for text in (*rule.get("positive", ()), *rule.get("negative", ()))
    ]


def target(text: str) -> None:
    """Scan one text and check what holds for every text."""
    for finding in scan(text):
        assert 0 <= finding.start < finding.end <= len(text), (finding, text)


def mutated(rng: random.Random, corpus: list[str]) -> str:
    """A text made of pieces of examples and tricks, sometimes pumped."""
    pieces = []
    for _ in range(rng.randint(1, 12)):
        seed = rng.choice(corpus)
        low = rng.randrange(len(seed))
        piece = seed[low : low + rng.randint(1, 40)] if rng.random() < 0.7 else rng.choice(TRICKS)
        pieces.append(piece * (rng.randint(2, 400) if rng.random() < 0.1 else 1))
    return rng.choice(["", " ", "\n"]).join(pieces)


def main(seconds: float) -> int:
    """Fuzz for so long; print the slowest text and return 1 if it is slower than 2 ms a kilobyte."""
    rng = random.Random(0)
    corpus = seeds()
    target(" ".join(corpus))  # loads the rules and compiles the expressions
    end = time.monotonic() + seconds
    worst = (0.0, "")
    while time.monotonic() < end:
        text = mutated(rng, corpus)
        start = time.process_time()
        target(text)
        worst = max(worst, ((time.process_time() - start) / (len(text) + 2000), text))
    print(f"slowest: {worst[0] * 1e6:.1f} ms a kilobyte for {worst[1][:200]!r}")
    return int(worst[0] > 2e-6)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0))
