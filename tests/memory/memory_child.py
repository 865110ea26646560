"""A writer of memory in a process of its own; run as a script. It tells each write that was acknowledged."""

from __future__ import annotations

import json
import os
import random
import sys
import time

from hermes.memory.operations import Operation
from hermes.memory.scope import MemoryFile
from hermes.memory.store import MemoryStore
from hermes.paths import Home
from hermes.security.policy import STRICT

FILE = MemoryFile("MEMORY.md", "## M", 10**7)


def store_of(home: str) -> MemoryStore:
    return MemoryStore(Home(home), FILE, STRICT)


def text_of(name: str, number: int) -> str:
    """An entry that tells whether it is whole."""
    return f"{name}-{number:05d} the {name} build of day {number} begin{'=' * (number % 40)}end"


def is_whole(text: str) -> bool:
    return text.endswith("end") and "begin" in text


def write(home: str, name: str, start: int, count: int, seed: int) -> None:
    """Random operations on entries of our own; a line of JSON for each that has an answer, at once."""
    order = random.Random(seed)
    store = store_of(home)
    mine: list[str] = []
    for number in range(start, start + count):
        kind = order.choice(("add", "add", "replace", "remove")) if mine else "add"
        new = "" if kind == "remove" else text_of(name, number)
        old = order.choice(mine) if kind != "add" else ""
        began = time.monotonic()
        outcome = store.apply([Operation(kind, new, old)]).outcomes[0]  # type: ignore[arg-type]
        if old:
            mine.remove(old)  # where an editor has taken it, it is no longer there to be had
        if outcome.done and new:
            mine.append(new)
        tell(began, done=outcome.done, old=old, new=new)


def edit(home: str, count: int, seed: int) -> None:
    """Another program, which knows of no lock: reads the file, changes it, saves it in one way or another."""
    order = random.Random(seed)
    path = os.path.join(home, "memories", "MEMORY.md")
    mine: list[str] = []
    for number in range(count):
        began = time.monotonic()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if mine and order.random() < 0.3:
            text = text.replace(mine.pop(0) + "\n", "\n", 1)
        mine.append(text_of("editor", number))
        text = f"{mine[-1]}\n\n§\n{text}"
        saved = f"{path}.editor" if order.random() < 0.5 else path
        with open(saved, "w", encoding="utf-8") as file:
            file.write(text)
        if saved != path:
            os.replace(saved, path)
        tell(began, text=text, mine=mine)
        time.sleep(order.random() * 0.02)  # a person is slower than that


def tell(began: float, **what: object) -> None:
    os.write(1, (json.dumps({"began": began, "ended": time.monotonic(), **what}) + "\n").encode())


if __name__ == "__main__":
    what, home, *rest = sys.argv[1:]
    if what == "write":
        write(home, rest[0], *map(int, rest[1:]))
    else:
        edit(home, *map(int, rest))
