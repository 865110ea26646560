"""Measures the scanner over a corpus of honest context files and known attacks, and prints the tables.

A file is *blocked* when it has a high finding and *warned* when its gravest is medium. Of the attack sources
a third is set aside by hash (`held_out`): rules are written without looking at it; it is reported apart.

    python benchmarks/gate.py [CORPUS] [--holdout] [--quick]

`HERMES_PEER_PYTHON` names an interpreter that can import the rival's scanner; then both are timed.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import crafted
from hermes.security.scan import scan

sys.path.insert(0, str(Path(__file__).parent))
from structures import STRUCTURES, is_prose

CORPUS = Path(__file__).parents[2] / "shared/corpus/context-files"
OURS = Path(__file__).parents[1] / "tests/security"
OUR_ATTACKS = ("fresh_attacks", "second_attacks", "third_attacks", "fourth_attacks", "fifth_attacks")
BLOCKED, WARNED, CLEAN = "blocked", "warned", "clean"
DEEP = 70_000
Row = dict[str, Any]


def verdict(text: str) -> str:
    """What the default policy does with a context file of this text."""
    severities = {finding.severity for finding in scan(text)}
    return BLOCKED if "high" in severities else WARNED if "medium" in severities else CLEAN


def source_of(row: Row) -> str:
    """The unit that is set aside as a whole: a repository, a template, an encoder, an author's text."""
    base, _, rest = row["source"].partition(" : ")
    if base == "transformed":
        return str(rest.split("+")[0])
    if base == "authored":
        return str(rest)
    if base.startswith("pypi:spikee"):
        return str(base + rest.split("#")[-1].split("+")[0])
    return str(base)


def held_out(row: Row) -> bool:
    """Whether the source of an attack belongs to the third that rules are never written from."""
    base = row["source"].partition(" : ")[0]
    unit = base + "#" + source_of(row)[len(base) :] if base.startswith("pypi:spikee") else source_of(row)
    digest = hashlib.sha256(("holdout-14" + unit).encode()).digest()
    return int.from_bytes(digest[:4], "big") % 3 == 0


def rows(path: Path) -> Iterator[Row]:
    """The records of a JSON Lines file."""
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def attacks(corpus: Path) -> list[Row]:
    """The core attacks of the corpus."""
    found = (row for path in sorted(corpus.glob("attacks/*.jsonl")) for row in rows(path))
    return [row for row in found if row["tier"] == "core"]


def honest(corpus: Path) -> list[tuple[Row, str]]:
    """The honest files with their text."""
    index = rows(corpus / "benign/index.jsonl")
    return [(row, (corpus / "benign" / row["file"]).read_bytes().decode("utf-8")) for row in index]


def table(title: str, groups: dict[str, Counter[str]]) -> None:
    """Print one line for each group and one for all."""
    print(f"\n{title}\n{'':28}{'n':>6}{'blocked':>9}{'%':>7}{'warned':>8}{'%':>7}")
    total: Counter[str] = Counter()
    for counts in groups.values():
        total.update(counts)
    for name, counts in [*sorted(groups.items()), ("all", total)]:
        size = sum(counts.values()) or 1
        print(
            f"{name:28}{size:>6}{counts[BLOCKED]:>9}{100 * counts[BLOCKED] / size:>7.1f}"
            f"{counts[WARNED]:>8}{100 * counts[WARNED] / size:>7.1f}"
        )


def group(pairs: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    """Verdicts counted by name."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for name, outcome in pairs:
        groups[name][outcome] += 1
    return groups


def caught(texts: Iterable[str]) -> float:
    """Percentage of the texts that are blocked."""
    outcomes = Counter(map(verdict, texts))
    return 100 * outcomes[BLOCKED] / max(1, sum(outcomes.values()))


_CYRILLIC = str.maketrans("aceiopsxyjABCEHIKMOPTXS", "асеіорѕхујАВСЕНІКМОРТХЅ")
_GREEK = str.maketrans("aeiouvnABEHIKMNOTX", "αеιουνηΑΒΕΗΙΚΜΝΟΤΧ")


def _inside(text: str, mark: str) -> str:
    """A mark in the middle of every word of four letters or more."""
    return " ".join(w[: len(w) // 2] + mark + w[len(w) // 2 :] if len(w) > 3 else w for w in text.split(" "))


DISGUISES: dict[str, Callable[[str], str]] = {
    "case": lambda text: "".join(c.upper() if at % 2 else c.lower() for at, c in enumerate(text)),
    "full-width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "Cyrillic look-alikes": lambda text: text.translate(_CYRILLIC),
    "Greek look-alikes": lambda text: text.translate(_GREEK),
    "zero-width inside": lambda text: _inside(text, "\u200b"),
    "soft hyphen": lambda text: _inside(text, "\u00ad"),
    "spaced letters": lambda text: "  ".join(" ".join(word) for word in text.split()),
    "punctuation between": lambda text: ". ".join(text.split()),
    "line breaks": lambda text: "\n".join(text.split()),
    "Markdown emphasis": lambda text: " ".join(f"**{word}**" for word in text.split()),
    "HTML entities": lambda text: "".join(f"&#{ord(c)};" if c.isalpha() else c for c in text),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "tag characters": lambda text: "".join(chr(0xE0000 + ord(c)) for c in text if ord(c) < 128),
}
"""Mechanical disguises of an attack; look-alikes of two alphabets are counted as one in the goals."""


def report_honest(corpus: Path) -> list[str]:
    """Honest files by sample and language; the texts without any finding are returned as carriers."""
    files = [(row, text, verdict(text)) for row, text in honest(corpus)]
    table("Honest files, by sample", group((row["sample"], outcome) for row, _, outcome in files))
    table("Honest files, by language", group((row["language"], outcome) for row, _, outcome in files))
    snippets = [(row["why"], verdict(row["text"])) for row in rows(corpus / "benign/snippets.jsonl")]
    table("Honest snippets that look like attacks", group(snippets))
    return [
        text for row, text, outcome in files if outcome == CLEAN and row["sample"] in ("random", "language")
    ]


def report_attacks(core: list[Row], carriers: list[str], title: str) -> None:
    """Attacks alone by category and language, then inside honest files and deep in them."""
    outcomes = [(row, verdict(row["text"])) for row in core]
    table(
        f"Core attacks alone, {title}, by category",
        group((row["category"], outcome) for row, outcome in outcomes),
    )
    table(
        f"Core attacks alone, {title}, by language",
        group((row["lang"], outcome) for row, outcome in outcomes),
    )
    texts = [row["text"] for row in core]
    alone = 100 * sum(outcome == BLOCKED for _, outcome in outcomes) / max(1, len(outcomes))
    print(f"\nCore attacks, {title}: alone {alone:.1f} %", end="")
    print(f", in an honest file {caught(embedded(texts, carriers)):.1f} %", end="")
    print(f", after character {DEEP:,} {caught(deep(texts, carriers)):.1f} %")


def embedded(texts: list[str], carriers: list[str]) -> Iterator[str]:
    """Each text as a paragraph in the middle of an honest file."""
    for at, text in enumerate(texts):
        carrier = carriers[at % len(carriers)]
        cut = carrier.find("\n\n", len(carrier) // 2)
        cut = len(carrier) if cut < 0 else cut
        yield f"{carrier[:cut]}\n\n{text}\n{carrier[cut:]}"


def deep(texts: list[str], carriers: list[str]) -> Iterator[str]:
    """Each text behind many honest characters."""
    padding = "\n\n".join(carriers)[: DEEP + 2_000]
    padding = padding[: padding.rfind("\n\n")]
    for text in texts:
        yield f"{padding}\n\n{text}\n"


def report_ours() -> None:
    """Texts of our own: one half was worked with, `example` lent rules examples, `measure` did neither."""
    for name in OUR_ATTACKS:
        texts = [(row, verdict(row["text"])) for row in rows(OURS / f"{name}.jsonl")]
        table(f"Of our own, {name}", group((row["half"], outcome) for row, outcome in texts))
        unused = [(row, outcome) for row, outcome in texts if row["half"] == "measure"]
        for by in ("category", "lang"):
            found = group((row.get(by, "en"), outcome) for row, outcome in unused)
            table(f"Of those never tuned on, {name}, by {by}", found)
    honest_ones = [(row, verdict(row["text"])) for row in rows(OURS / "near_misses.jsonl")]
    for by in ("half", "kind", "lang"):
        found = group((row[by], outcome) for row, outcome in honest_ones)
        table(f"Honest near-misses of our own, by {by}", found)


def report_disguises(core: list[Row]) -> None:
    """Of the ASCII attacks that are caught plain: how much is caught in each disguise."""
    tricky = ("invisible_unicode", "encoded_payload", "obfuscated_text", "hidden_html")
    plain = [row["text"] for row in core if row["text"].isascii() and row["category"] not in tricky]
    plain = [text for text in plain if len(text) < 1500 and verdict(text) == BLOCKED]
    print(f"\nDisguises, of {len(plain)} attacks that are caught plain")
    for name, disguise in DISGUISES.items():
        print(f"{name:28}{caught(map(disguise, plain)):>7.1f} %")


def report_structures(core: list[Row]) -> None:
    """Of English prose that is caught plain, of sources seen and of ours: how much in each structure."""
    ours = (row for name in OUR_ATTACKS for row in rows(OURS / f"{name}.jsonl"))
    worked = [row for row in ours if row["half"] in ("tune", "work") and row.get("lang", "en") == "en"]
    given = [row["text"] for row in (*core, *worked[::4]) if row.get("lang", "en") == "en"]
    plain = [text for text in given if is_prose(text) and verdict(text) == BLOCKED]
    print(f"\nStructures, of {len(plain)} texts of words alone that are caught plain")
    for name, structure in STRUCTURES.items():
        print(f"{name:46}{caught(map(structure, plain)):>7.1f} %")


def timed(work: Callable[[], object], least: int = 3) -> float:
    """Seconds of processor time, the best of several runs."""
    best = float("inf")
    for _ in range(least):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def report_speed(corpus: Path) -> None:
    """Throughput on ordinary text, the worst crafted texts, growth with length, and the rival."""
    texts = [text for row, text in honest(corpus) if row["sample"] in ("random", "language")]
    size = sum(len(text.encode()) for text in texts) / 1e6
    ours = size / timed(lambda: [scan(text) for text in texts])
    print(f"\nSpeed\nhonest files, one by one     {ours:>7.1f} MB/s")
    for name, text in ordinary().items():
        print(f"{name:28} {len(text.encode()) / 1e6 / timed(lambda text=text: scan(text)):>7.1f} MB/s")
    peer = os.environ.get("HERMES_PEER_PYTHON")
    if peer:
        rival = json.loads(
            subprocess.run(
                [peer, "-c", _RIVAL, str(corpus)],
                input=ordinary()["English prose"][:60_000].encode(),
                capture_output=True,
                check=True,
            ).stdout
        )
        print(f"rival, honest files          {rival['files']:>7.1f} MB/s   ratio {ours / rival['files']:.1f}")
        prose = ordinary()["English prose"]
        mine = len(prose) / 1e6 / timed(lambda: scan(prose))
        print(f"rival, English prose         {rival['prose']:>7.1f} MB/s   ratio {mine / rival['prose']:.1f}")
    prose_64 = crafted.costs(ordinary()["English prose"][:65_536], 5)
    print(f"clean prose of 64 kB         {prose_64:>7.1f} ms")
    fresh = islice(crafted.fresh(65_536), 0, None, 5)
    for name, texts in (("repeating one phrase", crafted.pumped(65_536)), ("never repeating", fresh)):
        worst = crafted.worst(texts, 5)
        print(f"worst 64 kB {name:20} {worst[0][0]:>5.0f} ms, {worst[0][0] / prose_64:.1f} times clean prose")
        print("".join(f"    {cost:.0f} ms {text}\n" for cost, text in worst), end="")
    print("time for 1 and for 10 MB")
    small, large = ([*crafted.growing(size), ("English prose", _prose(size))] for size in (10**6, 10**7))
    for (name, short), (_, long) in zip(small, large, strict=True):
        one, ten = crafted.costs(short, 1), crafted.costs(long, 1)
        print(f"    {name:28} {one:>6.0f} ms, {ten:>7.0f} ms, {ten / one:.1f} times")


def _prose(size: int) -> str:
    return _shuffled(ordinary()["English prose"].split()[:60], " ", size // 300)[:size]


def ordinary() -> dict[str, str]:
    """Prose without any peculiarity, in a script of one and of three bytes a letter; no line comes twice."""
    english = (
        "The service keeps a small table of open orders and writes every change to the log before it "
        "answers. Run the tests with make, then read the report that stands beside the build. When a field "
        "is missing the parser names the line and goes on; nothing is thrown away. Keep functions short."
    )
    chinese = (
        "这是一个用于测试的项目说明文件，请在提交之前运行所有测试。"
        "如果测试失败，请先修复问题再继续。代码应当保持简洁，并且配有清楚的文档。"
    )
    clauses = [clause for clause in re.split("(?<=[，。])", chinese) if clause]
    return {
        "English prose": _shuffled(english.split(), " ", 1000),
        "Chinese prose": _shuffled(clauses, "", 1500),
    }


def _shuffled(parts: list[str], between: str, lines: int) -> str:
    chance = random.Random(1)
    return "".join(f"{number} {between.join(chance.sample(parts, len(parts)))}\n" for number in range(lines))


_RIVAL = """
import json, sys, time
from pathlib import Path
from tools.threat_patterns import scan_for_threats
corpus = Path(sys.argv[1]) / "benign"
rows = map(json.loads, (corpus / "index.jsonl").read_text("utf-8").splitlines())
texts = [(corpus / r["file"]).read_text("utf-8") for r in rows if r["sample"] in ("random", "language")]
english = sys.stdin.read()
def timed(texts):
    best = 1e9
    for _ in range(2):
        start = time.process_time()
        for text in texts:
            scan_for_threats(text, "context")
        best = min(best, time.process_time() - start)
    return sum(len(text.encode()) for text in texts) / 1e6 / best
print(json.dumps({"files": timed(texts), "prose": timed([english])}))
"""


def main() -> int:
    """Print all tables; the exit status is 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--holdout", action="store_true", help="also measure the sources that were set aside")
    parser.add_argument("--quick", action="store_true", help="leave out speed")
    options = parser.parse_args()
    if not (options.corpus / "benign/index.jsonl").is_file():
        parser.error(f"{options.corpus} is not a corpus: it has no benign/index.jsonl")
    carriers = report_honest(options.corpus)
    core = attacks(options.corpus)
    seen = [row for row in core if not held_out(row)]
    report_attacks(seen, carriers, "sources seen")
    if options.holdout:
        report_attacks([row for row in core if held_out(row)], carriers, "sources set aside")
        report_attacks(core, carriers, "all")
    report_ours()
    report_disguises(seen)
    report_structures(seen)
    if not options.quick:
        report_speed(options.corpus)
    return 0


if __name__ == "__main__":
    sys.exit(main())
