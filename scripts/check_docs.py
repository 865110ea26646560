"""Check the documentation: links lead somewhere, examples run, the command reference is current.

    python scripts/check_docs.py

Runs every fenced `python` block of README.md and docs/ in a fresh home and directory. A block marked
`python no-run` is only compiled.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import update_help

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\[[^\]\n]*\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)")


def broken_links() -> list[str]:
    problems = []
    for page in PAGES:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
        problems += [
            f"{page.relative_to(ROOT)}: the link {target} leads nowhere"
            for target in LINK.findall(text)
            if not (page.parent / target).exists()
        ]
    return problems


def failing_examples() -> list[str]:
    problems = []
    for page in PAGES:
        for number, (flags, code) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            name = f"{page.relative_to(ROOT)}: example {number}"
            try:
                compile(code, name, "exec")
            except SyntaxError as error:
                problems.append(f"{name}: {error}")
                continue
            if "no-run" not in flags and (problem := _run(code)):
                problems.append(f"{name}: {problem}")
    return problems


def _run(code: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "HERMES_HOME": os.path.join(folder, "home"), "NO_COLOR": "1"}
        command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def stale_pages() -> list[str]:
    """Pages that are made from the commands and are not as the commands are."""
    made = {update_help.HELP: update_help.quick_help(), update_help.REFERENCE: update_help.reference()}
    return [
        f"{page.relative_to(ROOT)} is not as the commands are: python scripts/update_help.py"
        for page, text in made.items()
        if page.read_text(encoding="utf-8") != text
    ]


def main() -> int:
    problems = broken_links() + failing_examples() + stale_pages()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(PAGES)} pages, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
