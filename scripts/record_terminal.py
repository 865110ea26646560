"""Write docs/terminal.svg: a picture of a real conversation at a real terminal.

    python scripts/record_terminal.py

Runs `hermes` on a pseudo-terminal, with a project and a provider on this machine, and draws what stood on the
screen. Only the provider's answers are made up; all else is as the program showed it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.terminal import Terminal  # noqa: E402
from tests.providers.loopback import Loopback, Reply  # noqa: E402

from hermes.agent.prompt_builder import DEFAULT_AGENT_IDENTITY  # noqa: E402
from hermes.contracts import CacheRules  # noqa: E402
from hermes.messages import ToolCall  # noqa: E402
from hermes.paths import Home, ensure_home  # noqa: E402

TARGET = ROOT / "docs" / "terminal.svg"
COLUMNS, ROWS = 88, 40
WIDTH, HEIGHT = 8.4, 18
_COLOURS = {
    "default": "#d8dee9",
    "black": "#3b4252",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#e5e9f0",
    "brightblack": "#7f8898",
    "brightblue": "#82c4ff",
    "brightgreen": "#b5e08d",
    "brightmagenta": "#d8a0ea",
    "brightcyan": "#7fd6e0",
}
_RULES = "# Rules\n\n- Run the tests with pytest.\n- Say what you changed in one sentence.\n"
_CODE = "def total(prices):\n    return sum(prices[1:])\n"
_CONFIG = """\
model:
  default: claude-sonnet-4-5
  base_url: {url}
models:
  claude-sonnet-4-5:
    context_window: 200000
    prices: {{input: 3.0, output: 15.0, cache_read: 0.3}}
"""
_FOUND = """\
`total` drops the first price: `prices[1:]` begins at the second one. **Fixed**, and the sum is right now:

```python
def total(prices):
    return sum(prices)
```
"""


def replies() -> Iterator[Reply | str]:
    patch = {"path": "shop.py", "old_text": "prices[1:]", "new_text": "prices"}
    yield Reply(calls=(ToolCall("1", "read_file", json.dumps({"path": "shop.py"})),))
    yield Reply(calls=(ToolCall("2", "patch", json.dumps(patch)),))
    yield _FOUND


def main() -> None:
    provider, ready = (
        Loopback(replies(), CacheRules(kind="prefix", minimum_tokens=64, step=16)),
        threading.Event(),
    )

    async def serve() -> None:
        async with provider.running():
            ready.set()
            await asyncio.Event().wait()

    threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    assert ready.wait(10)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        project.mkdir()
        (project / "AGENTS.md").write_text(_RULES)
        (project / "shop.py").write_text(_CODE)
        home = Path(folder) / "home"
        ensure_home(Home(str(home)), DEFAULT_AGENT_IDENTITY + "\n")
        (home / "config.yaml").write_text(_CONFIG.format(url=provider.base_url))
        picture = draw(conversation(home, project))
    TARGET.write_text(picture.replace(folder, "~"), encoding="utf-8")


def conversation(home: Path, project: Path) -> Terminal:
    os.environ.setdefault("TERM", "xterm-256color")
    with Terminal(home=home, cwd=project, columns=COLUMNS, rows=ROWS) as at:
        at.wait_for("claude-sonnet")
        at.say("the total is wrong, find out why")
        at.wait_for("Let patch do this?")
        at.type("1")
        at.wait_for("› 1")
        at.type("\r")
        at.wait_for("return sum(prices)\n")
        at.wait_until(lambda shown: shown.rpartition("\n")[2].startswith("claude"), "the end")
        at.say("/usage")
        at.wait_for("without a cache")
        at.wait_until(lambda shown: shown.rpartition("\n")[2].startswith("claude"), "the end")
    return at


def draw(at: Terminal) -> str:
    """The screen as SVG: a rectangle, and a text for each run of one style."""
    rows = [at.screen.buffer[y] for y in range(at.screen.lines)]
    used = max(y for y, line in enumerate(at.screen.display) if line.strip()) + 1
    width, height = COLUMNS * WIDTH + 40, used * HEIGHT + 40
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'aria-label="A conversation with Hermes at a terminal">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#1b1f27"/>',
        '<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="14" '
        'xml:space="preserve">',
    ]
    for y, row in enumerate(rows[:used]):
        for x, text, style in runs(row):
            left, top = 20 + x * WIDTH, 20 + (y + 1) * HEIGHT - 5
            size = f'textLength="{len(text) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
            pieces.append(f'<text x="{left:.1f}" y="{top}" {size} {style}>{escape(text)}</text>')
    return "\n".join([*pieces, "</g>", "</svg>", ""])


def runs(row: dict[int, object]) -> Iterator[tuple[int, str, str]]:
    """Neighbouring characters of one style: where they begin, the text, the style."""
    start, text, style = 0, "", ""
    for x in range(COLUMNS):
        cell = row[x]
        own = style_of(cell)
        if own != style and text:
            yield from _run(start, text, style)
            start, text = x, ""
        style = own
        text += cell.data  # type: ignore[attr-defined]
    yield from _run(start, text, style)


def _run(start: int, text: str, style: str) -> Iterator[tuple[int, str, str]]:
    bare = text.strip()
    if bare:
        yield start + text.index(bare), bare, style


def style_of(cell: object) -> str:
    colour = cell.fg  # type: ignore[attr-defined]
    style = f'fill="{_COLOURS.get(colour, _COLOURS["default"])}"'
    if cell.bold:  # type: ignore[attr-defined]
        style += ' font-weight="bold"'
    if cell.underscore:  # type: ignore[attr-defined]
        style += ' text-decoration="underline"'
    return style


if __name__ == "__main__":
    main()
