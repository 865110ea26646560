"""docs/extending.md builds one of each, and each of them works; the configuration on the pages is valid."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.agent.extensions import Extensions
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config.load import check
from hermes.config.parser import parse
from hermes.prompt import Tier
from hermes.providers.scripted import Step, call
from hermes.turns import NoticeShown, ToolFinished
from tests.agent.talk import Talk
from tests.plugins.world import enable
from tests.world import facts

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n# plugins/(\w+)\.py\n(.*?)^```", re.M | re.S)
PLUGINS = dict(BLOCK.findall((DOCS / "extending.md").read_text(encoding="utf-8")))
SETTINGS = "  settings: {weather: {city: Lisbon}}\nmemory: {provider: notebook, recall_timeout: 10}\n"

Play = Callable[..., Talk]


def test_there_is_one_of_each() -> None:
    assert list(PLUGINS) == ["weather", "house_rules", "dice", "pager", "notebook", "counter"]


def test_all_of_them_at_work_in_one_conversation(play: Play, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "plugins").mkdir(parents=True)
    for name, code in PLUGINS.items():
        (home / "plugins" / f"{name}.py").write_text(code, encoding="utf-8")
    sources = enable(home, *PLUGINS, more=SETTINGS)
    assert sources.plugins is not None

    async def scene(talk: Talk) -> None:
        talk.agent = talk.new_agent()
        talk.agent.sources = sources
        talk.agent.extensions = Extensions.of(sources, talk.store)
        await talk.say("Do I need an umbrella?")
        assert [e.result for e in talk.events if isinstance(e, ToolFinished)] == ["1"]
        assert talk.agent.extensions.memory is not None
        lane = talk.agent.extensions.memory.lane
        assert lane is not None
        await lane.idle(10)
        await talk.say("Which umbrella?")
        assert [e.notice for e in talk.events if isinstance(e, NoticeShown)] == []
        await talk.agent.close()

    talk = play(scene, [Step(calls=(call("roll_die", '{"sides": 1}'),)), "It rains.", "The red one."])
    prompt = talk.agent.session.prompt if talk.agent.session else None
    assert prompt is not None
    assert prompt.layer(Tier.STABLE).text.endswith("## House Rules\n\nAnswer in metric units.")
    assert "## Notebook\n\nThe notebook is new." in prompt.layer(Tier.VOLATILE).text
    assert "The surface is cli." in prompt.layer(Tier.VOLATILE).text
    first, second = (m["content"] for m in talk.last_messages() if m["role"] == "user")
    assert '<added kind="plugin" from="weather">\nIn Lisbon it rains.\n</added>' in first
    assert second.index("- the notebook: Do I need an umbrella?") < second.index("Which umbrella?")


def test_the_surface_has_its_hint(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "pager.py").write_text(PLUGINS["pager"])
    sources = enable(home, "pager")
    built = build_system_prompt(default_slots(sources), facts(tmp_path, platform="pager"))
    assert "You are on a pager. One short line." in built.layer(Tier.STABLE).text


@pytest.mark.parametrize("page", ["extending.md", "external-memory.md", "mcp.md"])
def test_the_configuration_on_the_pages_is_valid(page: str) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for block in blocks:
        assert check(parse(block.encode()), "config.yaml").config.notices == ()
