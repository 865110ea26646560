"""Real context files, as people wrote them, each as the project file of a repository."""

from __future__ import annotations

import os
from pathlib import Path

from hermes.agent.prompt_builder import build_context_files_prompt
from hermes.errors import FileRefused
from hermes.paths import Home
from hermes.provenance import Passage
from hermes.text import decode

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "context-files" / "benign"


def real_files() -> list[Path]:
    """The corpus beside the checkout, or, where there is none, the checkout's own Markdown."""
    found = [p for p in CORPUS.rglob("*") if p.suffix in (".txt", ".md")]
    return sorted(found or (p for p in ROOT.rglob("*.md") if ".venv" not in p.parts))


def test_each_builds_and_its_spans_lead_back_to_the_file(tmp_path: Path) -> None:
    files = real_files()
    assert len(files) > 20
    (tmp_path / ".git").mkdir()
    target = tmp_path / "AGENTS.md"
    for path in files:
        data = path.read_bytes()
        target.write_bytes(data)
        prompt = build_context_files_prompt(tmp_path, skip_soul=True, home=Home(str(tmp_path / "home")))
        assert_faithful(prompt, data, str(target), path.name)


def assert_faithful(prompt: Passage, data: bytes, path: str, name: str) -> None:
    assert "".join(prompt[s.start : s.end] for s in prompt.spans) == prompt, name
    decisions = [d for d in prompt.decisions if d.path == path]
    assert len(decisions) == 1, name
    try:
        lines = decode(data).text.split("\n")
    except FileRefused:
        assert decisions[0].verdict == "binary", name
        return
    for span in prompt.spans:
        if span.origin.path != path or not span.origin.first_line:
            continue
        quoted = prompt[span.start : span.end].removesuffix("\n").split("\n")
        source = lines[span.origin.first_line - 1 : span.origin.last_line]
        assert len(quoted) == len(source), name
        assert quoted[1:-1] == source[1:-1], name
        assert quoted[0] in source[0], name
        assert quoted[-1] in source[-1], name
    if decisions[0].verdict in ("cut", "blocked"):
        assert [n for n in prompt.notices if n.level in ("warning", "error")], name
    assert os.path.basename(path) in prompt or decisions[0].verdict == "empty", name
