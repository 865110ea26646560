"""`hermes cache`, as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.cli.runner import hermes
from tests.wire.rig import Rig
from tests.world import write


def played(folder: Path) -> Rig:
    """A session of three calls, the last after a refresh; its store lies in the home."""

    async def scene(rig: Rig) -> None:
        await rig.say("One.")
        await rig.say("Two.")
        soul = Path(rig.home.soul)
        write(soul, soul.read_text(encoding="utf-8").replace("Rule 7:", "Rule seven:"))
        await rig.agent.refresh()
        await rig.say("Three.")

    rig = Rig(folder, database=folder / "home" / "sessions.db")
    rig.play(scene)
    return rig


def test_why(tmp_path: Path) -> None:
    rig = played(tmp_path)
    session = rig.agent.session_id
    done = hermes("cache", "why", session, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    told = done.out.replace(str(tmp_path), "")
    assert told.splitlines()[0] == "call 3: changed - system changed: identity, edited"
    assert "  source: /home/SOUL.md:9\n  what was done: refresh\n" in told
    data = json.loads(
        hermes("cache", "why", session, "2", "--json", home=tmp_path / "home", cwd=tmp_path).out
    )
    assert (data["call"], data["verdict"]["cause"]) == (2, "hit")
    done = hermes("cache", "why", session, "9", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (2, f"Error: session {session} has no call 9; it has 3\n")


def test_report(tmp_path: Path) -> None:
    rig = played(tmp_path)
    home, session = tmp_path / "home", rig.agent.session_id
    told = hermes("cache", "report", session, home=home, cwd=tmp_path).out.splitlines()
    assert told[0] == "▁█▁"
    assert [line.split()[6] for line in told[2:5]] == ["first", "hit", "changed:"], told
    assert told[-2].split()[:2] == ["cause", "calls"]
    assert told[-1].split()[:2] == ["changed", "1"]
    told = hermes("cache", "report", "--since", "2026-01-01", home=home, cwd=tmp_path).out.splitlines()
    assert told[0].startswith(f"{session}     3 calls ")
    assert told[-1].split()[:2] == ["changed", "1"]
    data = json.loads(hermes("cache", "report", "--json", home=home, cwd=tmp_path).out)
    assert [s["calls"] for s in data["sessions"]] == [3]
    assert data["causes"]["changed"]["missed"] > 1000
    assert hermes("cache", "report", "--since", "2199-01-01", home=home, cwd=tmp_path).out.startswith(
        "no session has made a call\n"
    )


def test_simulate(tmp_path: Path) -> None:
    rig = played(tmp_path)
    session, home = rig.agent.session_id, tmp_path / "home"
    plot = tmp_path / "plot.svg"
    done = hermes("cache", "simulate", session, "--plot", str(plot), home=home, cwd=tmp_path)
    assert done.code == 0, done.err
    rows = [line[:28].strip() for line in done.out.splitlines()]
    assert rows[:5] == [
        "policy",
        "as reported",
        "as it was sent",
        "no marks",
        "marks on the prompt alone",
    ]
    assert "prices of claude-sonnet-4-5: genai-prices" in done.out
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    done = hermes("cache", "simulate", "--model", "openai:gpt-4o", "--json", home=home, cwd=tmp_path)
    data = json.loads(done.out)
    assert data["sessions"] == [session]
    told = {p["policy"]: p for p in data["policies"]}
    assert told["as reported"]["tokens"]["output"] == told["no marks"]["tokens"]["output"]
    assert told["no marks"]["tokens"]["read"] == 0
    assert told["answered by gpt-4o"]["cost"] < told["no marks"]["cost"]
    done = hermes("cache", "simulate", "--plot", "x.png", home=home, cwd=tmp_path)
    assert (done.code, "must end in .svg" in done.err) == (2, True)


def test_fleet(tmp_path: Path) -> None:
    rig = played(tmp_path)
    plot = tmp_path / "fleet.svg"
    done = hermes("cache", "fleet", "--plot", str(plot), home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    first, second = done.out.splitlines()[:2]
    assert first == f"group 1: 1 session of anthropic:claude-sonnet-4-5 ({rig.agent.session_id})"
    assert second.startswith("  they share ")
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    data = json.loads(hermes("cache", "fleet", "--json", home=tmp_path / "home", cwd=tmp_path).out)
    (group,) = data["groups"]
    assert (group["sessions"], group["split"]) == ([rig.agent.session_id], None)
    assert data["prices"]["claude-sonnet-4-5"].startswith("genai-prices")


def test_pending(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say("One.")
        await rig.agent.stage("model", "openai:gpt-4o")

    rig, home = Rig(tmp_path, database=tmp_path / "home" / "sessions.db"), tmp_path / "home"
    rig.play(scene)
    told = hermes("cache", "pending", home=home, cwd=tmp_path).out.splitlines()
    assert told[0].startswith(f"{rig.agent.session_id}  the model openai:gpt-4o, since 20")
    assert told[1].startswith("  comes with /refresh, /compress or /new, or by itself when")
    data = json.loads(hermes("cache", "pending", rig.agent.session_id, "--json", home=home, cwd=tmp_path).out)
    assert [(e["what"], e["name"]) for e in data] == [("model", "openai:gpt-4o")]
    assert hermes("cache", "pending", home=tmp_path / "other", cwd=tmp_path).out == (
        "nothing waits for a boundary\n"
    )


def test_cost(tmp_path: Path) -> None:
    rig = played(tmp_path)
    session, home = rig.agent.session_id, tmp_path / "home"

    def rows(*more: str) -> dict[str, dict[str, Any]]:
        done = hermes("cache", "cost", "--json", *more, home=home, cwd=tmp_path)
        assert done.code == 0, done.err
        return {row["name"]: row for row in json.loads(done.out)["rows"]}

    total = rows()[session]
    assert (total["calls"], total["unpriced"]) == (3, 0)
    assert 0 < total["cost"] < total["without_cache"] * 1.25
    calls = rows(session, "--by", "call")
    assert list(calls) == [f"{session} {n}" for n in (1, 2, 3)]
    for name, tokens in total["tokens"].items():
        assert tokens == sum(row["tokens"][name] for row in calls.values())
    assert rows("--by", "model").keys() == {"anthropic:claude-sonnet-4-5"}
    assert rows("--by", "day").keys() == {"2026-03-30"}
    told = hermes("cache", "cost", home=home, cwd=tmp_path).out.splitlines()
    assert told[0].split()[:2] == ["session", "calls"]
    assert told[-1].startswith("prices: claude-sonnet-4-5: genai-prices")
