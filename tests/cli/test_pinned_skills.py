"""`skills.pinned`: every new session begins with these skills, once, and is told of what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.served import Served
from tests.world import write


def test_a_session_begins_with_the_pinned_skills(serve: Callable[..., Served]) -> None:
    served = serve("one", "two")
    skill = "---\nname: stand-up\ndescription: How we stand up.\n---\n\nNever sit down.\n"
    write(served.home / "skills" / "stand-up" / "SKILL.md", skill)
    config = served.home / "config.yaml"
    write(config, config.read_text() + "skills: {pinned: [stand-up, nothing]}\n")
    done = served.chat("-q", "hello")
    assert done.code == 0
    assert "the pinned skill nothing was not loaded: there is no skill 'nothing'" in done.err
    assert served.chat("-q", "again", "--continue").code == 0
    first, second = (json.loads(call.body)["messages"] for call in served.provider.calls[-2:])
    said = [m["content"] for m in second if m["role"] == "user"]
    assert "Never sit down." in said[0]
    assert "The user has started the skill stand-up." in said[0]
    assert "Never sit down." not in said[1]
    assert second[: len(first)] == first
