"""The bill of a prompt, section by section."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hermes.inspect.cost import Row, prompt_cost
from hermes.messages import ToolSpec
from hermes.prompt import Section, SystemPrompt, Tier
from hermes.provenance import Passage
from hermes.providers.profiles import profile_for
from tests.cli.runner import hermes
from tests.world import facts

CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")


def made(*sections: tuple[str, Tier, str]) -> SystemPrompt:
    parts = (Section.of(slot, tier, Passage(text)) for slot, tier, text in sections)
    return SystemPrompt.assemble(parts, facts(Path("/")), "")


def test_a_bill_adds_up() -> None:
    prompt = made(
        ("identity", Tier.STABLE, "You are Hermes. " * 400), ("memory", Tier.VOLATILE, "Tea. " * 90)
    )
    found = prompt_cost(prompt, (ToolSpec("look", "Look at it. " * 50, "{}"),), CLAUDE, calls=10)
    assert [r.section for r in found.rows] == ["tool list", "identity", "memory"]
    total = found.total
    assert total.tokens == sum(r.tokens for r in found.rows)
    for name in ("first", "cached", "total", "plain"):
        assert getattr(total, name) == pytest.approx(sum(getattr(r, name) for r in found.rows))
    identity, memory = found.rows[1:]
    assert identity.first == pytest.approx(identity.tokens * 3.75 / 1e6)
    assert identity.total == pytest.approx(identity.tokens * (3.75 + 9 * 0.3) / 1e6)
    assert identity.change == pytest.approx((identity.tokens + memory.tokens) * (3.75 - 0.3) / 1e6)
    assert found.pays_from == (("5m", 2), ("1h", 3))


def test_below_the_minimum_nothing_is_cached() -> None:
    found = prompt_cost(made(("identity", Tier.STABLE, "Hello.")), (), CLAUDE)
    assert not found.reached
    assert found.total.cached == found.total.first == pytest.approx(found.total.tokens * 3.0 / 1e6)


def test_unknown_prices_stay_unknown() -> None:
    found = prompt_cost(made(("identity", Tier.STABLE, "Hello.")), (), profile_for("x", "y"))
    assert found.total == Row("", "total", found.total.tokens)
    assert found.prices == ""


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()

    def run(*more: str) -> str:
        done = hermes("prompt", "cost", *more, home=tmp_path / "home", cwd=tmp_path / "project")
        assert done.code == 0, done.err
        return done.out

    told = run("--model", "anthropic:claude-sonnet-4-5")
    assert " ".join(told.splitlines()[0].split()) == (
        "section tokens first call each cached 100 calls uncached a change"
    )
    assert "\nbreak-even: written for 5m, caching pays from call 2 on\n" in told
    assert "prices: genai-prices" in told
    data = json.loads(run("--model", "anthropic:claude-sonnet-4-5", "--calls", "7", "--json"))
    assert (data["calls"], data["pays_from"]) == (7, {"5m": 2, "1h": 3})
    assert data["rows"][0]["section"] == "tool list"
    assert "no prices are known for nobody" in run("--model", "somewhere:nobody")


def test_it_is_drawn(tmp_path: Path) -> None:
    plot = tmp_path / "cost.svg"
    arguments = ("prompt", "cost", "--model", "anthropic:claude-sonnet-4-5", "--plot")
    done = hermes(*arguments, str(plot), home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "tool list" in "".join(ElementTree.parse(plot).getroot().itertext())
    done = hermes(*arguments, "cost.png", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, "cost.png must end in .svg" in done.err) == (2, True)
