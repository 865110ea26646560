"""The examples of docs/security.md are true: its commands print what stands there."""

from __future__ import annotations

import re
from pathlib import Path

from hermes.config import load_config
from hermes.paths import Home
from hermes.provenance import digest_of
from hermes.security.policy import Policies
from tests.cli.runner import hermes
from tests.world import write

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.M | re.S)


def test_the_commands_print_what_stands_there(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    write(work / "AGENTS.md", blocks("markdown")[0])
    code = 0
    for step in [step for block in blocks("console") for step in re.split(r"^\$ ", block, flags=re.M)[1:]]:
        command, _, expected = step.partition("\n")
        if command == "echo $?":
            assert f"{code}\n" == expected
            continue
        name, *arguments = command.split()
        assert name == "hermes"
        done = hermes(*arguments, home=home, cwd=work)
        code = done.code
        assert done.out.replace(f"{work}/", "") == expected, command


def test_the_digest_is_that_of_the_example() -> None:
    assert f"with the digest {digest_of(blocks('markdown')[0])[:12]};" in PAGE


def test_the_configuration_is_valid_and_the_table_is_the_default(tmp_path: Path) -> None:
    write(tmp_path / "config.yaml", blocks("yaml")[0])
    assert load_config(Home(str(tmp_path))).notices == ()
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| (\w+) \| (\w+) \|$", PAGE, re.M)
    policies = Policies()
    assert [(who, policies.of(who).high, policies.of(who).medium) for who, _, _ in rows] == rows  # type: ignore[arg-type]
    assert {who for who, _, _ in rows} == {"project", "owner", "third_party", "caller"}
