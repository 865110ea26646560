"""Screens of one conversation as they were looked at and found good, at three widths."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from hermes.messages import ToolCall
from tests.cli.served import Served
from tests.cli.terminal import Terminal
from tests.providers.loopback import Reply

Serve = Callable[..., Served]
ANSWER = """\
# Done

I wrote **notes.txt**: `two` lines.

| name | lines |
|---|---|
| notes.txt | 2 |
| 日本語 | שלום |

1. first
2. second

```python
print("two")
```
"""


def settled(text: str, served: Served) -> str:
    """The screen without what differs from run to run: paths, seconds, the session."""
    text = text.replace(str(served.home), "/home")
    text = re.sub(r"^(Hermes [\d.]+ +).*", r"\1/project", text)
    text = re.sub(r"\d+\.\d s|\b\d s\b", "0 s", text)
    text = re.sub(r"\d\.\dk tokens", "5k tokens", text)
    return re.sub(r"\b[0-9a-f]{8}\b", "01234567", text) + "\n"


def ready(text: str, status: str) -> Callable[[str], bool]:
    """Whether a text is shown, and below it an empty input and a status line that begins so."""
    end = re.compile(rf"\n›\n{status}[^\n]*$")
    return lambda shown: text in " ".join(shown.split()) and end.search(shown) is not None


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_screens_are_as_they_were(columns: int, serve: Serve, golden: Callable[[str, str], None]) -> None:
    write = {"path": "notes.txt", "content": "one\ntwo\n"}
    served = serve(Reply(calls=(ToolCall("1", "write_file", json.dumps(write)),)), ANSWER)
    with Terminal(home=served.home, cwd=served.project, columns=columns, rows=70) as at:
        at.wait_for("scripted-1")
        at.say("write notes")
        screen = [at.wait_until(ready("unanswered", r"\d+(\.\d)? s, Ctrl-C stops"), "the question")]
        at.type("1")
        at.wait_for("› 1")
        at.type("\r")
        at.wait_for('print("two")')
        screen.append(at.wait_until(ready('print("two")', "scripted-1"), "the answer"))
        at.say("/help")
        screen.append(at.wait_until(ready("typed before", "scripted-1"), "the help"))
    for name, text in zip(("question", "answer", "help"), screen, strict=True):
        golden(f"screens/{name}_{columns}.txt", settled(text, served))
