"""The command as it is used: text, JSON, SARIF, baseline, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes.cli.app import run
from hermes.errors import UsageError
from hermes.inspect.lint import baseline
from hermes.inspect.lint.baseline import Judged, Known
from hermes.inspect.lint.finding import RULES, Place, finding
from hermes.inspect.lint.sarif import sarif
from tests.inspect.lint_subject import project
from tests.world import write

DEAD = "See `a/b c.md`.\nSee `a/b.md`.\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return project(tmp_path, {"AGENTS.md": DEAD})


def lint(capsys: pytest.CaptureFixture[str], repo: Path, *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run(["prompt", "lint", "--cwd", str(repo), *(str(a) for a in arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_text_and_exit_codes(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "AGENTS.md:2:6: warning: the path a/b.md does not exist here; mend or remove it [dead-path]\n"
    assert lint(capsys, repo)[:2] == (1, f"{line}2 files read: 1 warning\n")
    assert lint(capsys, repo, "--max-level", "error")[:2] == (0, f"{line}2 files read: 1 warning\n")
    assert lint(capsys, repo, "--ignore", "dead")[:2] == (0, "2 files read: nothing found\n")
    assert lint(capsys, repo, "--select", "secret-key, repeat")[:2] == (0, "2 files read: nothing found\n")
    write(repo / "AGENTS.md", "See `gone.md`.\n")
    assert [lint(capsys, repo, *more)[0] for more in ((), ("--max-level", "note"))] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--select", "ded"), "no rule or family is called 'ded'"),
        (("--json", "--sarif"), "choose one"),
        (("--baseline", "gone.json"), "the baseline gone.json cannot be read"),
        (("--cwd", "/no/such"), "no such directory: /no/such"),
        (("--max-level", "fatal"), "'fatal' is not one of"),
        (("--at-time", "noon"), "is no time"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(
    repo: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = lint(capsys, repo, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_json(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lint(capsys, repo, "--json")
    expected = finding(
        "dead-path",
        Place("AGENTS.md", 2, 6, 12),
        "the path a/b.md does not exist here; mend or remove it",
        "a/b.md",
    )
    assert (code, json.loads(out)) == (
        1,
        {
            "findings": [
                {
                    "rule": "dead-path",
                    "level": "warning",
                    "place": {"file": "AGENTS.md", "line": 2, "column": 6, "end_column": 12},
                    "message": "the path a/b.md does not exist here; mend or remove it",
                    "fingerprint": expected.fingerprint,
                    "tokens": 0,
                    "related": [],
                }
            ],
            "counts": {"error": 0, "warning": 1, "note": 0},
            "files": 2,
            "known": 0,
            "stale": [],
        },
    )


def test_a_baseline_lets_only_new_findings_count(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = repo / "lint.json"
    assert lint(capsys, repo, "--write-baseline", file)[:2] == (0, f"{file}: 1 finding\n")
    first = file.read_bytes()
    write(repo / "AGENTS.md", f"# New\n\n{DEAD}")
    assert lint(capsys, repo, "--baseline", file)[:2] == (
        0,
        "2 files read: nothing found; 1 more in the baseline\n",
    )
    write(repo / "AGENTS.md", f"{DEAD}And `c/d.md`.\n")
    code, out, _ = lint(capsys, repo, "--baseline", file)
    assert (code, out.count("\n"), "c/d.md" in out) == (1, 2, True)
    write(repo / "AGENTS.md", "Fine.\n")
    code, out, err = lint(capsys, repo, "--baseline", file)
    assert (code, out) == (0, "2 files read: nothing found\n")
    assert "lint.json has 1 entry that nothing answers to any more: AGENTS.md: the path a/b.md" in err
    assert "answers" not in lint(capsys, repo, "--baseline", file, "--ignore", "dead-path")[2]
    write(repo / "AGENTS.md", DEAD)
    lint(capsys, repo, "--write-baseline", file)
    assert file.read_bytes() == first


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1, "findings": {"a": {}}}', '{"format": 1, "findings": []}']
)
def test_what_is_no_baseline(text: str) -> None:
    with pytest.raises(UsageError, match=r"x\.json is no baseline"):
        baseline.from_text(text, "x.json")


def test_a_baseline_of_another_format() -> None:
    with pytest.raises(UsageError, match=r"x\.json has format 2; this Hermes reads format 1"):
        baseline.from_text('{"format": 2, "findings": {}}', "x.json")


def test_a_baseline_reads_back() -> None:
    found = (
        finding("dead-path", Place("é.md", 3, 1, 2), "gone", "a"),
        finding("dead-name", Place("b.md"), "m", "b"),
    )
    known = baseline.from_text(baseline.to_text(found), "x")
    assert sorted(known, key=lambda k: k.rule) == [
        Known(found[1].fingerprint, "dead-name", "b.md", "m"),
        Known(found[0].fingerprint, "dead-path", "é.md", "gone"),
    ]
    assert baseline.judge(found, known, frozenset(RULES)) == Judged((), 2)


def test_nothing_that_a_terminal_obeys_is_printed(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo / "AGENTS.md", "Never push \x1b[31mto the main branch.\n\nPush \x1b[31mto the main branch.\n")
    _, out, _ = lint(capsys, repo)
    assert "conflict-polarity" in out
    assert "\x1b" not in out


def test_what_is_wrong_with_the_configuration_is_told(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo.parent / "home" / "config.yaml", "context_file_max_chars: many\n")
    code, out, err = lint(capsys, repo, "--ignore", "dead")
    assert (code, out) == (0, "2 files read: nothing found\n")
    assert "context_file_max_chars" in err


def test_the_rules_are_listed(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lint(capsys, repo, "--rules")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, list(RULES))


def test_sarif_of_every_kind_of_place() -> None:
    new = (
        finding(
            "dead-path", Place("a b/AGENTS.md", 2, 6, 12), "gone", "x", related=(Place("é.md", 1),), tokens=3
        ),
        finding("soul-fact", Place("~HERMES_HOME/SOUL.md", 4, 1), "fact", "x"),
        finding("unloaded-empty", Place("/other/x.md"), "empty", "x"),
        finding("cost-prompt", Place("(system prompt)"), "dear", "x"),
    )
    log = sarif(Judged(new), root="/w/my repo", home="/h")
    assert_sarif(log)
    (run_,) = log["runs"]
    assert run_["originalUriBaseIds"] == {
        "HOME": {"uri": "file:///h/"},
        "ROOT": {"uri": "file:///w/my%20repo/"},
    }
    assert run_["results"][0] == {
        "ruleId": "dead-path",
        "ruleIndex": sorted(RULES).index("dead-path"),
        "level": "warning",
        "message": {"text": "gone"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "a%20b/AGENTS.md", "uriBaseId": "ROOT"},
                    "region": {"startLine": 2, "startColumn": 6, "endColumn": 12},
                }
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "%C3%A9.md", "uriBaseId": "ROOT"},
                    "region": {"startLine": 1},
                },
            }
        ],
        "partialFingerprints": {"hermesPromptLint/v1": new[0].fingerprint},
        "properties": {"tokens": 3},
    }
    assert [r["locations"][0] for r in run_["results"][1:]] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "SOUL.md", "uriBaseId": "HOME"},
                "region": {"startLine": 4, "startColumn": 1},
            }
        },
        {"physicalLocation": {"artifactLocation": {"uri": "file:///other/x.md"}}},
        {"logicalLocations": [{"name": "system prompt"}]},
    ]


def test_sarif_of_a_project(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lint(capsys, repo, "--sarif")
    log = json.loads(out)
    assert_sarif(log)
    assert (code, len(log["runs"][0]["results"])) == (1, 1)


def assert_sarif(log: dict[str, Any]) -> None:
    """What the schema of SARIF 2.1.0 asks of the parts that are used: required keys, types, bounds."""
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    (run_,) = log["runs"]
    driver = run_["tool"]["driver"]
    assert isinstance(driver["name"], str)
    assert run_["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    for base in run_["originalUriBaseIds"].values():
        assert base["uri"].endswith("/")
    for result in run_["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            assert set(location) <= {"id", "physicalLocation", "logicalLocations"}
            physical = location.get("physicalLocation", {"artifactLocation": {"uri": "x"}})
            assert " " not in physical["artifactLocation"]["uri"]
            assert all(number >= 1 for number in physical.get("region", {}).values())
