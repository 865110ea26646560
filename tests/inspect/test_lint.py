"""Lint as a whole: the golden report, order, fingerprints, choice of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.errors import UsageError
from hermes.inspect.lint import baseline, report
from hermes.inspect.lint.finding import RULES, Finding, Place, finding
from hermes.inspect.lint.run import choose, lint, reaches
from tests.inspect.lint_subject import findings, project, subject, told

FILES = {
    "HOME/SOUL.md": "You are Bo.\nThe app listens on port 8080.\n",
    "HOME/memories/MEMORY.md": "User prefers yarn\n§\nTimezone: US/Pacific\n",
    "AGENTS.md": """\
# Atlas

Use tabs for indentation. Always use `pnpm` for dependencies.
Run `make lint` and `make typecheck` before every commit.
The entry point is `src/atlas/main.py`; helpers live in `src/atlas/util.py:12`.
See [the guide](docs/guide.md) and @docs/rules.md, and write to `reports/today.md`.

- Never use default exports in components.
- Every public function has a docstring that says what it returns and why.
- Write clean code.
- Maximum line length: 100

```bash
make test
pnpm run build
./scripts/deploy.sh
```

Token: ghp_R8s2kLq9ZxW4vTn7YbC3mJd6FhG1pQaEuX0o
""",
    "web/AGENTS.md": """\
# Web

- Use 2 spaces for indentation.
- Every public function has a docstring that says what it returns and why.
- Lines under 80 characters.
- Always use default exports in components.
""",
    "web/CLAUDE.md": "Use yarn.\n",
    "Makefile": "lint:\n\truff check\ntest: lint\n\tpytest\n",
    "package.json": '{"scripts": {"dev": "vite"}}',
    "src/atlas/main.py": "",
}
GOLDEN = """\
AGENTS.md:4:22: warning: make typecheck cannot run: no Makefile has the target typecheck; mend or remove it [dead-command]
AGENTS.md:5:58: warning: the path src/atlas/util.py does not exist here; mend or remove it [dead-path]
AGENTS.md:6:17: warning: the link docs/guide.md does not exist here; mend or remove it [dead-link]
AGENTS.md:6:36: warning: the import docs/rules.md does not exist here; mend or remove it [dead-import]
AGENTS.md:10:3: note: nobody could say whether this was followed; name what you want to see, or leave it out [vague-rule, 3 tokens]
AGENTS.md:15:1: warning: pnpm run build cannot run: no package.json has the script build; mend or remove it [dead-command]
AGENTS.md:16:1: warning: ./scripts/deploy.sh cannot run: there is no ./scripts/deploy.sh here; mend or remove it [dead-command]
AGENTS.md:19:8: error: GitHub token ghp_… (40 characters): it goes to the provider with every call; revoke it, keep it in the environment and name the variable here [secret-key]
web/AGENTS.md:3:3: warning: indentation: spaces here, but tabs at AGENTS.md:3:1; keep one of the two [conflict-choice]
web/AGENTS.md:4:3: warning: this rule stands already at AGENTS.md:9:3; keep one [repeat-exact, 13 tokens]
web/AGENTS.md:5:3: warning: line length: 80 here, but 100 at AGENTS.md:11:3; keep one of the two [conflict-choice]
web/AGENTS.md:6:3: warning: exports: default exports here, but not default exports at AGENTS.md:8:3; keep one of the two [conflict-polarity]
web/CLAUDE.md: note: not loaded: shadowed by ../AGENTS.md; merge what still counts [unloaded-shadowed]
~HERMES_HOME/SOUL.md:2:20: note: port 8080 is a fact of one project, and SOUL.md goes with you everywhere; move it to that project's AGENTS.md [soul-fact]
~HERMES_HOME/memories/MEMORY.md:1:1: warning: package manager: yarn here, but pnpm at AGENTS.md:3:27; keep one of the two [conflict-choice]
5 files read: 1 error, 11 warnings, 3 notes; repeated rules cost 13 tokens in every call
"""  # noqa: E501


def text(found: tuple[Finding, ...], files: int) -> str:
    judged = baseline.Judged(found)
    lines = [f"{place}: {level}: {rest}" for place, level, rest in report.lines(judged)]
    return "\n".join([*lines, report.summary(judged, files)]) + "\n"


def test_the_report_of_a_project_with_something_of_everything(tmp_path: Path) -> None:
    looked_at = subject(project(tmp_path, FILES), "web")
    found = lint(looked_at)
    assert text(found, len(looked_at.sources)) == GOLDEN
    assert lint(looked_at) == found
    assert found[9] == finding(
        "repeat-exact",
        Place("web/AGENTS.md", 4, 3, 75),
        "this rule stands already at AGENTS.md:9:3; keep one",
        "Every public function has a docstring that says what it returns and why.",
        tokens=13,
        related=(Place("AGENTS.md", 9, 3, 75),),
    )


def test_a_clean_project_is_clean(tmp_path: Path) -> None:
    files = {"AGENTS.md": "# Rules\n\nRun `make test`.\nRead `docs/guide.md` first.\n", "docs/guide.md": "x"}
    assert findings(tmp_path, {**files, "Makefile": "test:\n"}) == ()


def test_fingerprints_outlive_shifted_lines_and_tell_like_findings_apart(tmp_path: Path) -> None:
    rules = "- Every public function says what it returns and why it does so.\n"
    before = findings(
        tmp_path / "a", {"AGENTS.md": f"{rules}\n# A\n\n{rules}\n# B\n\n{rules}See `a/b.md`.\n"}
    )
    after = findings(
        tmp_path / "b", {"AGENTS.md": f"New.\n\n{rules}\n\n# A\n\n{rules}\n# B\n\n{rules}See `a/b.md`.\n"}
    )
    assert told(before) != told(after)
    assert [f.fingerprint for f in before] == [f.fingerprint for f in after]
    assert len({f.fingerprint for f in before}) == len(before) == 3


def test_rules_are_chosen_by_id_and_by_family() -> None:
    assert choose() == frozenset(RULES)
    assert choose(["dead"]) == {"dead-command", "dead-import", "dead-link", "dead-name", "dead-path"}
    assert choose(["dead", "secret-key"], ["dead-name", "dead-path"]) == {
        "dead-command",
        "dead-import",
        "dead-link",
        "secret-key",
    }
    with pytest.raises(UsageError, match="no rule or family is called 'ded'"):
        choose(["ded"])


def test_levels_reach_from_the_gravest_down() -> None:
    note = (finding("dead-name", Place("a"), "", ""),)
    assert [reaches(note, level) for level in ("error", "warning", "note")] == [False, False, True]
    assert reaches((finding("secret-key", Place("a"), "", ""),), "warning")


def test_every_rule_is_in_the_table_and_named_by_a_family() -> None:
    assert all(id_ == rule.id and "-" in id_ for id_, rule in RULES.items())
    assert list(RULES) == sorted(RULES)
