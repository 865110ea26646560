"""Every way a file can be odd, for every file of a prompt: never an error or a hang, always a word."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.config import load_config
from hermes.paths import Home
from hermes.prompt import SystemPrompt
from hermes.provenance import Notice
from hermes.tool_names import TOOL_NAMES
from tests.world import build, facts, write

BODY = "Prefer small functions.\n\nSay what you changed.\n"

FILES: dict[str, tuple[str, str]] = {
    # name: (path below the world, text around the body)
    "SOUL": ("home/SOUL.md", "{}"),
    "hermes": ("project/.hermes.md", "{}"),
    "AGENTS": ("project/AGENTS.md", "{}"),
    "override": ("project/AGENTS.override.md", "{}"),
    "CLAUDE": ("project/CLAUDE.md", "{}"),
    "cursorrules": ("project/.cursorrules", "{}"),
    "mdc": ("project/.cursor/rules/a.mdc", "---\nalwaysApply: true\n---\n{}"),
    "MEMORY": ("home/memories/MEMORY.md", "{}"),
    "USER": ("home/memories/USER.md", "{}"),
    "SKILL": ("home/skills/tools/deploy/SKILL.md", "---\nname: deploy\ndescription: How to deploy\n---\n{}"),
    "DESCRIPTION": ("home/skills/tools/DESCRIPTION.md", "---\ndescription: Tools of the trade\n---\n{}"),
    "config": ("home/config.yaml", "agent:\n  system_prompt: Be kind.\n# {}"),
}


class World:
    """A home and a project in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(str(root / "home"))
        self.project = root / "project"
        write(self.project / ".git" / "HEAD", "ref: refs/heads/main\n")
        (root / "home").mkdir()
        write(root / "outside.md", "From outside the project.\n")
        # A neighbour, so that the folders exist and the index has something to say.
        write(root / "home/skills/tools/other/SKILL.md", "---\nname: other\ndescription: Another\n---\n")
        write(root / "home/SOUL.md", "You are the neighbour.\n")

    def build(self) -> tuple[SystemPrompt, tuple[Notice, ...]]:
        prompt = build(self.home, facts(self.project, tools=frozenset(TOOL_NAMES)))
        return prompt, (*load_config(self.home).notices, *prompt.notices)


def as_bytes(encode: Callable[[str], bytes]) -> Callable[[Path, str], None]:
    def make(path: Path, text: str) -> None:
        path.write_bytes(encode(text))

    return make


def directory(path: Path, text: str) -> None:
    path.mkdir()


def fifo(path: Path, text: str) -> None:
    os.mkfifo(path)


def device(path: Path, text: str) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path, text: str) -> None:
    path.symlink_to(path.name)


def dangling(path: Path, text: str) -> None:
    path.symlink_to("nowhere.md")


def outside(path: Path, text: str) -> None:
    root = next(p for p in path.parents if (p / "outside.md").exists())
    path.symlink_to(root / "outside.md")


def huge(path: Path, text: str) -> None:
    with path.open("wb") as file:
        file.write(text.encode())
        file.truncate(100 * 1024 * 1024)


def huge_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode() + b"x" * (5 * 1024 * 1024))


READABLE = {
    "plain": as_bytes(str.encode),
    "BOM": as_bytes(lambda t: b"\xef\xbb\xbf" + t.encode()),
    "CRLF": as_bytes(lambda t: t.replace("\n", "\r\n").encode()),
    "BOM and CRLF": as_bytes(lambda t: b"\xef\xbb\xbf" + t.replace("\n", "\r\n").encode()),
    "lone CR": as_bytes(lambda t: t.replace("\n", "\r").encode()),
    "UTF-16 LE": as_bytes(lambda t: ("\ufeff" + t).encode("utf-16-le")),
    "UTF-16 BE": as_bytes(lambda t: ("\ufeff" + t).encode("utf-16-be")),
}
ODD = {
    "Latin-1": as_bytes(lambda t: (t + "# Café\n").encode("latin-1")),
    "NUL": as_bytes(lambda t: t.encode() + b"\0"),
    "empty": as_bytes(lambda t: b""),
    "BOM only": as_bytes(lambda t: b"\xff\xfe"),
    "blank": as_bytes(lambda t: b" \n\t\n"),
    "directory": directory,
    "FIFO": fifo,
    "device link": device,
    "link loop": loop,
    "dangling link": dangling,
    "link out of the tree": outside,
    "100 MB": huge,
    "5 MB of text": huge_text,
}
# What is no fault of these files: they mean nothing, and there is nothing to warn of.
SILENT = {
    ("config", "empty"),
    ("config", "BOM only"),
    ("config", "blank"),
    ("config", "link out of the tree"),  # a linked configuration is common; what it says is judged as YAML
    ("SOUL", "link out of the tree"),  # the owner may keep the home's files elsewhere
    ("MEMORY", "link out of the tree"),
    ("USER", "link out of the tree"),
}


def place(world: World, name: str) -> tuple[Path, str]:
    below, form = FILES[name]
    path = world.root / below
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path, form.format(BODY.replace("\n", "\n# ") if name == "config" else BODY)


def expected(name: str) -> str:
    return {
        "SKILL": "    - deploy: How to deploy\n",
        "DESCRIPTION": "Tools of the trade",
        "config": "Be kind.",
    }.get(name, "Prefer small functions.\n\nSay what you changed.")


@pytest.mark.parametrize("kind", READABLE)
@pytest.mark.parametrize("name", FILES)
def test_every_encoding_of_a_text_is_read_whole(tmp_path: Path, name: str, kind: str) -> None:
    world = World(tmp_path)
    READABLE[kind](*place(world, name))
    prompt, notices = world.build()
    text = prompt.text.replace("\n  ", "\n") if name in ("MEMORY", "USER") else prompt.text
    assert expected(name) in text
    assert "\ufeff" not in prompt.text
    assert "\r" not in prompt.text
    assert [n for n in notices if n.level != "info"] == []


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", FILES)
def test_an_odd_file_never_breaks_the_build_and_is_told_of(tmp_path: Path, name: str, kind: str) -> None:
    world = World(tmp_path)
    path, text = place(world, name)
    ODD[kind](path, text)
    prompt, notices = within_seconds(world.build)
    assert prompt.layer(prompt.layers[0].tier).text
    prompt.text.encode("utf-8")
    assert "\0" not in prompt.text
    told = [n for n in notices if mentions(n, path)]
    if (name, kind) not in SILENT:
        assert told, [n.text for n in notices]
    if kind not in ("Latin-1", "link out of the tree"):
        assert expected(name) not in prompt.text or kind == "5 MB of text"


def mentions(notice: Notice, path: Path) -> bool:
    where = notice.origin.path if notice.origin else ""
    return path.name in notice.text or os.path.basename(where) == path.name or path.parent.name in notice.text


def within_seconds(
    call: Callable[[], tuple[SystemPrompt, tuple[Notice, ...]]],
) -> tuple[SystemPrompt, tuple[Notice, ...]]:
    """Run a call that may hang on a pipe; a hang fails the test instead of stopping the suite."""
    results: list[tuple[SystemPrompt, tuple[Notice, ...]]] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join(20)
    assert results, "the build hung or raised"
    return results[0]


@pytest.mark.parametrize("name", FILES)
def test_an_unreadable_file_is_told_of(tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    path, text = place(world, name)
    path.write_text(text, encoding="utf-8")
    path.chmod(0)
    prompt, notices = as_nobody(tmp_path, world.build)
    assert expected(name) not in prompt.text
    assert any(mentions(n, path) and "permission denied" in n.text for n in notices), [
        n.text for n in notices
    ]


@pytest.mark.parametrize("name", FILES)
def test_an_unreadable_folder_is_told_of(tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    path, text = place(world, name)
    path.write_text(text, encoding="utf-8")
    path.parent.chmod(0)
    try:
        prompt, notices = as_nobody(tmp_path, world.build)
    finally:
        path.parent.chmod(0o755)
    assert expected(name) not in prompt.text
    assert any("permission denied" in n.text for n in notices), [n.text for n in notices]


def test_a_home_that_cannot_be_written_or_is_missing(tmp_path: Path) -> None:
    world = World(tmp_path)
    path, text = place(world, "SKILL")
    path.write_text(text, encoding="utf-8")
    before = world.build()[0].text
    for folder, _, _ in os.walk(world.home.root):
        os.chmod(folder, 0o555)
    assert as_nobody(tmp_path, world.build)[0].text == before
    world.home = Home(str(tmp_path / "missing"))
    prompt, notices = world.build()
    assert prompt.text.startswith("You are Hermes Agent")
    assert [n.text for n in notices] == [
        f"there is no {tmp_path}/missing/SOUL.md; the default identity stands"
    ]


def as_nobody(
    tmp_path: Path, call: Callable[[], tuple[SystemPrompt, tuple[Notice, ...]]]
) -> tuple[SystemPrompt, tuple[Notice, ...]]:
    """Run a call with the rights of an ordinary user, also when the tests run as root."""
    if os.geteuid() != 0:
        return call()
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.owner() == "root" and folder != Path(folder.root):
            folder.chmod(folder.stat().st_mode | 0o055)
    os.setegid(65534)
    os.seteuid(65534)
    try:
        return call()
    finally:
        os.seteuid(0)
        os.setegid(0)


def test_a_file_replaced_while_it_is_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    path, _ = place(world, "AGENTS")
    texts = [f"Version {n}.\n" + "x" * (n * 1000) for n in range(1, 6)]
    path.write_text(texts[0], encoding="utf-8")
    done = threading.Event()

    def replace_often() -> None:
        n = 0
        while not done.is_set():
            n += 1
            if n % 2:
                path.write_text(texts[n % 5], encoding="utf-8")  # in place: readers may see a part
            else:
                aside = path.with_suffix(".new")
                aside.write_text(texts[n % 5], encoding="utf-8")
                aside.replace(path)

    writer = threading.Thread(target=replace_often)
    writer.start()
    try:
        for _ in range(60):
            prompt, notices = world.build()
            section = next(s.text for s in prompt.sections if s.slot == "project context")
            whole = any(text.strip() in section for text in texts)
            told = any(n.origin and n.origin.path == str(path) for n in notices)
            assert whole or told
    finally:
        done.set()
        writer.join()
