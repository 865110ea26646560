"""`hermes plugins list` says who implements what."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.runner import hermes
from tests.plugins.world import enable, put

SAYS = "@hook\ndef pre_llm_call():\n    return 'x'\n\n@hook\ndef on_event(event):\n    pass\n"


def installed(folder: Path) -> None:
    """A package with an entry point, as an installer leaves it."""
    (folder / "weather.py").write_text("from hermes.plugins.hooks import hook\n" + SAYS)
    info = folder / "hermes_weather-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hermes-weather\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[hermes.plugins]\nweather = weather\n")


def test_all_are_listed_and_only_those_that_are_on_are_imported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    site = tmp_path / "site"
    site.mkdir()
    installed(site)
    put(home, "here", SAYS)
    put(home, "off", "raise SystemExit('imported')")
    put(home, "broken", "1 / 0")
    enable(home, "here", "weather")
    (home / "config.yaml").write_text("plugins: {enabled: [broken, here, weather]}\n")
    done = hermes("plugins", "list", home=home, cwd=tmp_path, PYTHONPATH=str(site))
    folder = home / "plugins"
    assert done.out.splitlines() == [
        f"broken   failed  {folder / 'broken.py'}",
        f"here     on      {folder / 'here.py'}",
        "                 pre_llm_call, on_event",
        f"off      off     {folder / 'off.py'}",
        "weather  on      hermes-weather 1.2, weather",
        "                 pre_llm_call, on_event",
    ]
    assert "the plugin broken failed and was left out (ZeroDivisionError: division by zero)" in done.err
    body = json.loads(hermes("plugins", "list", "--json", home=home, cwd=tmp_path).out)
    assert [(row["name"], row["state"], row["hooks"]) for row in body["plugins"]] == [
        ("broken", "failed", []),
        ("here", "on", ["pre_llm_call", "on_event"]),
        ("off", "off", []),
    ]
    assert [n["text"].partition("(")[0] for n in body["notices"]] == [
        "the plugin broken failed and was left out ",
        f"there is no plugin 'weather' in {folder} or installed; there is: broken, here, off",
    ]


def test_of_one_name_the_home_goes_first(tmp_path: Path) -> None:
    installed(tmp_path)
    put(tmp_path / "home", "weather", SAYS)
    enable(tmp_path / "home")
    done = hermes("plugins", "list", home=tmp_path / "home", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.out.splitlines() == [f"weather  off     {tmp_path / 'home' / 'plugins' / 'weather.py'}"]
    assert "the plugin weather of hermes-weather 1.2, weather stands behind the one of" in done.err


def test_none(tmp_path: Path) -> None:
    done = hermes("plugins", "list", home=tmp_path / "home", cwd=tmp_path)
    assert done.out == f"No plugins: {tmp_path / 'home' / 'plugins'} has none, and none is installed.\n"
