"""The texts for the model that come with Hermes: literal where the documents are, each about its own tool."""

from __future__ import annotations

import os
import re

import pytest

import hermes.prompts
from hermes.prompts import prompt_text
from hermes.security.gate import admit
from hermes.security.policy import STRICT
from hermes.tool_names import TOOL_NAMES

FOLDER = os.path.dirname(hermes.prompts.__file__)
FOLDERS = ("", "environment", "personalities", "platform_hints")
ALL = sorted(
    os.path.join(folder, name[:-3]).replace(os.sep, "/")
    for folder in FOLDERS
    for name in os.listdir(os.path.join(FOLDER, folder))
    if name.endswith(".md")
)
GUIDANCE = [name for name in ALL if name.startswith("guidance_")]
OWN_TOOL = {"skills": "skill_manage", "tool_use": ""}
MEMORY = """\
You have persistent memory across sessions. Save durable facts using
the memory tool: user preferences, environment details, tool quirks,
and stable conventions. Memory is injected into every turn, so keep
it compact and focused on facts that will still matter later.
"""
SESSION_SEARCH = """\
When the user references something from a past conversation or you
suspect relevant cross-session context exists, use session_search
to recall it before asking them to repeat themselves.
"""
TOOL_USE = (
    "You MUST use your tools to take action — do not describe what you would do or plan to do "
    "without actually doing it.\n"
)


def own_tool(name: str) -> str:
    short = name.removeprefix("guidance_")
    return OWN_TOOL.get(short, short)


def tools_named_in(text: str) -> set[str]:
    """Tools by name: with an underscore, in backticks, or as `the X tool`. A bare `memory` is just a word."""
    words = set(re.findall(r"\w+", text))
    marked = set(re.findall(r"`(\w+)`", text)) | set(re.findall(r"\b(\w+) tool\b", text))
    return {tool for tool in TOOL_NAMES if tool in (words if "_" in tool else marked)}


@pytest.mark.parametrize(
    ("name", "opening"),
    [
        ("guidance_memory", MEMORY),
        ("guidance_session_search", SESSION_SEARCH),
        ("guidance_tool_use", TOOL_USE),
    ],
)
def test_it_opens_with_the_documents_sentences(name: str, opening: str) -> None:
    assert prompt_text(name).startswith(opening)


def test_every_guidance_text_belongs_to_a_tool() -> None:
    owners = {own_tool(name) for name in GUIDANCE}
    assert owners <= {*TOOL_NAMES, ""}
    assert owners >= {"memory", "session_search", "skill_manage", "terminal", "patch", ""}


@pytest.mark.parametrize("name", GUIDANCE)
def test_a_guidance_text_names_no_other_tool(name: str) -> None:
    assert tools_named_in(prompt_text(name)) <= {own_tool(name)} - {""}


@pytest.mark.parametrize("name", GUIDANCE)
def test_a_guidance_text_is_short(name: str) -> None:
    assert len(prompt_text(name)) <= (700 if name == "guidance_memory" else 550)


@pytest.mark.parametrize("name", ["guidance_tool_use", "guidance_terminal", "guidance_delegate_task"])
def test_what_drives_to_action_leaves_the_users_rules_above_it(name: str) -> None:
    text = " ".join(prompt_text(name).split())
    assert re.search(r"user has given come before|be sure that the user asked|the user's rules", text)


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith(("guidance_", "skills_"))])
def test_other_texts_name_no_tool(name: str) -> None:
    assert tools_named_in(prompt_text(name)) == set()


@pytest.mark.parametrize("name", ALL)
def test_a_text_is_clean(name: str) -> None:
    with open(os.path.join(FOLDER, name + ".md"), "rb") as file:
        data = file.read()
    text = data.decode("utf-8")
    assert b"\r" not in data
    assert text.endswith("\n")
    assert text.strip("\n") + "\n" == text
    assert not [line for line in text.split("\n") if line != line.rstrip()]


@pytest.mark.parametrize("name", ALL)
def test_a_text_names_no_home(name: str) -> None:
    """A custom home must not be contradicted by a default path in a text."""
    assert not re.search(r"~/|\.hermes\b|HERMES_HOME", prompt_text(name))


@pytest.mark.parametrize("name", ALL)
def test_our_own_texts_would_pass_the_strictest_gate(name: str) -> None:
    admitted = admit(prompt_text(name), name=name, policy=STRICT)
    assert (admitted.outcome, admitted.findings) == ("loaded", ())
