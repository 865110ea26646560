"""Repeats, contradictions, dead names: what is found, and above all what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.inspect.lint import choices, conflicts, polarity, repeats
from hermes.inspect.lint.finding import Place, finding
from tests.inspect.lint_subject import documents, findings, told

LONG = "Every public function says what it returns and why it does so today"
JAPANESE = "公開関数には必ず戻り値と理由を説明する文書を付けること。"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            "Use tabs for indentation.",
            "- Use 2 spaces for indentation",
            "indentation: spaces here, but tabs at",
        ),
        ("**Package manager**: pnpm", "Always use `npm`.", "package manager: npm here, but pnpm at"),
        (
            "Run:\n\n```\nnpm install\n```\n",
            "```sh\npnpm install\n```",
            "package manager: pnpm here, but npm at",
        ),
        ("Use bun, not npm.", "Use npm.", "package manager: npm here, but bun at"),
        ("We use poetry.", "Use `uv` for dependencies", "Python package manager: uv here, but poetry at"),
        ("Tests: vitest", "Use Jest for testing.", "JavaScript test runner: jest here, but vitest at"),
        ("Use pytest.", "Never use pytest.", "Python test runner: not pytest here, but pytest at"),
        (
            "Prefer single quotes.",
            "Style: double quotes, no semicolons",
            "quotes: double quotes here, but single",
        ),
        ("- No semicolons", "Always use semicolons.", "semicolons: semicolons here, but not semicolons at"),
        ("Maximum line length: 100", "Keep lines under 80 characters.", "line length: 80 here, but 100 at"),
        ("Indent with 4 spaces.", "2-space indentation", "indent width: 2 here, but 4 at"),
        ("Requires Python 3.12+.", "Uses Python 3.10.", "Python version: 3.10 here, but 3.12+ at"),
        ("Requires Node 18.", "Target Node.js 22.", "Node version: 22 here, but 18 at"),
        (
            "Always respond in English.",
            "Reply in Chinese.",
            "language of answers: chinese here, but english at",
        ),
        (
            "Use named exports.",
            "Prefer default exports.",
            "exports: default exports here, but named exports at",
        ),
    ],
)
def test_choices_that_exclude_each_other(tmp_path: Path, one: str, other: str, said: str) -> None:
    found = list(conflicts.check(documents(tmp_path, one, other)))
    assert [f.message[: len(said)] for f in found] == [said]
    assert [(f.place.file, f.related[0].file, f.level) for f in found] == [("2.md", "1.md", "warning")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use npm.", "Use npm for packages."),  # the same
        ("Use npm, yarn or pnpm.", "Use pnpm."),  # alternatives
        ("Use npm in `docs/`.", "Use pnpm."),  # bound to a folder
        ("If there is no lock file, use npm.", "Use pnpm."),  # a condition
        ("You can use npm.", "Use pnpm."),  # leave, not an order
        ("Should I use npm?", "Use pnpm."),
        ("## Python\n\n- Use 4 spaces.", "## YAML\n\n- Use 2-space indentation."),  # of different languages
        ("Common mistakes:\n\n- Use npm.", "Use pnpm."),  # a bad example
        ("Use Python 3.10+.", "Use Python 3.12."),  # fits the bound
        ("The npm registry is slow.", "Use pnpm."),  # no directive
        ("Press `Tab`, then `Esc`.", "Use 2 spaces for indentation."),  # a key
        ("```python\nuse npm\n```", "Use pnpm."),  # code of another language
        ("Use pnpm, never npm.", "Use pnpm instead of npm."),
    ],
)
def test_choices_that_go_together(tmp_path: Path, one: str, other: str) -> None:
    assert list(conflicts.check(documents(tmp_path, one, other))) == []


def test_a_conflict_with_a_file_that_is_not_loaded_is_a_note(tmp_path: Path) -> None:
    found = findings(tmp_path, {"AGENTS.md": "Use pnpm.\n", "CLAUDE.md": "Use npm.\n"})
    assert [(f.rule, f.level) for f in found] == [("unloaded-shadowed", "note"), ("conflict-choice", "note")]


def test_every_option_has_a_hint_that_its_name_holds() -> None:
    for choice in choices.CHOICES:
        assert all(any(hint in name.lower() for hint in choice.hints) for name, _ in choice.options), choice


@pytest.mark.parametrize(
    ("one", "other", "opposed"),
    [
        ("Never push to main.", "Push to main.", True),
        ("- Avoid default exports", "- Always use default exports.", True),
        ("Do not commit generated files.", "You must commit generated files", True),
        ("Never push to main.", "Never push to main!", False),
        ("Never push to main.", "Push to develop.", False),
        ("Never push to main.", "Mistakes to avoid:\n\n- Push to main", False),
        ("Never push to main.", "Don't push to main without review.", False),
        ("Never push to main.", "Push to main only if told.", False),
    ],
)
def test_the_same_words_asked_for_and_forbidden(tmp_path: Path, one: str, other: str, opposed: bool) -> None:
    assert [f.rule for f in polarity.check(documents(tmp_path, one, other))] == [
        "conflict-polarity"
    ] * opposed


def test_a_repeated_run_of_rules_is_one_finding(tmp_path: Path) -> None:
    rules = "".join(f"- {LONG} in part {word}.\n" for word in ("one", "two", "three"))
    assert list(repeats.check(documents(tmp_path, rules, f"# Again\n\n{rules}"))) == [
        finding(
            "repeat-exact",
            Place("2.md", 3, 3, 83),
            "these 3 rules (to line 5) stand already at 1.md:1:3; keep one",
            rules.removeprefix("- ").rstrip(),
            tokens=50,
            related=(Place("1.md", 1, 3, 83),),
        )
    ]


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        (f"- {LONG}.", f"1. **{LONG.upper()}**", ["repeat-exact"]),  # markup and case aside
        (f"{LONG} and always in plain words.", f"{LONG}, always in plain words.", ["repeat-near"]),
        (f"{LONG} and always in plain words.", f"{LONG} and always in clear words.", []),  # parallel
        (f"{LONG} and always in 3 words.", f"{LONG} and always in 5 words.", []),  # a telling number
        (f"{LONG} and never in plain words.", f"{LONG} and only in plain words.", []),  # a telling negation
        (f"{LONG} with `foo` in it.", f"{LONG} with `bar` in it.", []),  # a telling name
        ("Run the tests first.", "Run the tests first.", []),  # too short to matter
        (f"```\n{LONG}\n```", f"```\n{LONG}\n```", []),
        (f"{LONG}:\n- a", f"{LONG}:\n- b", []),  # what leads a list in
        (f"- ✅ {LONG}", f"- ❌ {LONG}", []),  # a good and a bad example
        (JAPANESE, JAPANESE, ["repeat-exact"]),
    ],
)  # fmt: skip
def test_repeats(tmp_path: Path, one: str, other: str, rule: list[str]) -> None:
    assert [f.rule for f in repeats.check(documents(tmp_path, one, other))] == rule


def test_what_is_not_loaded_repeats_nothing(tmp_path: Path) -> None:
    assert list(repeats.check(documents(tmp_path, LONG, LONG, verdict="shadowed"))) == []


FILES = {
    ".gitignore": "/out\n*.log\n!keep.log\n# comment\n",
    "src/app/main.py": "",
    "src/api/client.ts": "",
    "apps/web/components/Button.tsx": "",
    "docs/guide.md": "",
    "server/dist/x.js": "",
}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("See `src/app/gone.py`.", "dead-path"),
        ("See `src/app/gone.py:12` and `src/app/gone.py`.", "dead-path"),
        ("In `src/app/tests` there are more.", "dead-path"),
        ("Read [it](docs/gone.md#top).", "dead-link"),
        ("Read [it](docs/gone/).", "dead-link"),
        ("@docs/gone.md", "dead-import"),
        ("The `gone.py` module.", "dead-name"),
    ],
)
def test_dead_names(tmp_path: Path, line: str, rule: str) -> None:
    found = findings(tmp_path, {**FILES, "AGENTS.md": line + "\n"})
    assert [f.rule for f in found] == [rule]


@pytest.mark.parametrize(
    "line",
    [
        "`src/app/main.py`, `src/app/main.py:3`, `src/app/main.py::test_x`, `./src/app/main.py`, `src/app/`",
        "`src/api/client`",  # a module without its ending
        "`components/Button.tsx` and `main.py`",  # the end of a path
        "[it](docs/guide.md#part), [that](https://example.com/x.md), [top](#top), [mail](mailto:a@b.c)",
        "@docs/guide.md and someone@docs/gone.md",
        "`src/**/*.py`, `path/to/file.py`, `src/<name>.py`, `src/{a,b}.py`, `$HOME/x.py`, `~/x/y.py`",
        "`https://a.dev/x.html`, `github.com/a/b.md`, `@scope/pkg/x.js`, `application/json`, `origin/main`",
        "`and/or`, `net/http`, `feature/x`, `Node.js`, `res.json`, `/api/users.json`, `app/[id]/page.tsx`",
        "`out/report.json`, `a/b.log`, `dist/app.js`, `.env`, `node_modules/x/y.js`",  # made on each machine
        "Create `docs/plan.md`.",
        "Files such as `lib/a.py` are fine.",
        "Removed: `src/old/thing.py`",
        "src/app/gone.py is no code",
        "```\nsrc/app/gone.py\n```",
        "<!-- `src/app/gone.py` -->",
        "A `SKILL.md` or `package.json`.",
    ],
)
def test_names_that_need_not_exist(tmp_path: Path, line: str) -> None:
    assert told(findings(tmp_path, {**FILES, "AGENTS.md": line + "\n"})) == []


def test_a_path_is_told_once_with_all_its_lines(tmp_path: Path) -> None:
    found = findings(tmp_path, {"AGENTS.md": "See `a/b.md`.\n\nAnd `a/b.md`.\n\n`a/b.md`\n"})
    assert found == (
        finding(
            "dead-path",
            Place("AGENTS.md", 1, 6, 12),
            "the path a/b.md does not exist here (also on line 3, 5); mend or remove it",
            "a/b.md",
        ),
    )


MANIFESTS = {
    "Makefile": ".PHONY: clean \\\n  all\nlint test: x.c\n\truff\nV := 1\n%.o: %.c\n",
    "package.json": '{"scripts": {"dev": "vite"}, "devDependencies": {"eslint": "9"}}',
    "web/package.json": '{"scripts": {"build:web": "vite build"}}',
    "justfile": "alias b := build\nbuild target='x':\n  echo\n@ship: build\n",
    "Cargo.toml": "",
    "scripts/run.sh": "",
}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("make docs", "no Makefile has the target docs"),
        ("make -j4 lint V=2 docs", "no Makefile has the target docs"),
        ("npm run gone", "no package.json has the script gone"),
        ("npm test", "no package.json has the script test"),
        ("CI=1 pnpm --filter web run gone", "no package.json has the script gone"),
        ("yarn lint", "no package.json has the script lint"),
        ("just deploy", "no justfile has the recipe deploy"),
        ("cargo xtask dist", ".cargo/config.toml has no alias xtask"),
        ("go test ./...", "there is no go.mod in this project"),
        ("./scripts/gone.sh --now", "there is no ./scripts/gone.sh here"),
        ("python scripts/gone.py", "there is no scripts/gone.py here"),
        ("uv run scripts/gone.py", "there is no scripts/gone.py here"),
        ("poetry run pytest tests/test_gone.py -q", "there is no tests/test_gone.py here"),
        ("make lint && make docs", "no Makefile has the target docs"),
    ],
)
@pytest.mark.parametrize("form", ["Run `{}`.\n", "```bash\n$ {}  # now\n```\n"])
def test_dead_commands(tmp_path: Path, command: str, why: str, form: str) -> None:
    found = findings(tmp_path, {**MANIFESTS, "AGENTS.md": form.format(command)})
    assert [(f.rule, f.message.partition(": ")[2].partition(";")[0]) for f in found] == [
        ("dead-command", why)
    ]


@pytest.mark.parametrize(
    "command",
    [
        "make lint", "make test", "make clean all", "make x.o", "make -C web gone2 -f other.mk", "make",
        "make <target>", "make $(TARGET)", "npm run dev", "npm run build:web", "npm install", "npm run",
        "npx eslint .", "yarn eslint .", "yarn tsc", "pnpm gone", "bun test", "just build", "just b",
        "just ship", "cargo build", "cargo nextest run", "uv run pytest", "uv run gone",
        "poetry run gone", "python -m gone", "python -c 'x'", "bash scripts/run.sh", "./scripts/run.sh",
        "cd elsewhere && make gone", "git commit", "make sure it works", "echo make gone",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["Run `{}`.\n", "```bash\n{}\n```\n"])
def test_commands_that_are_there_or_cannot_be_judged(tmp_path: Path, command: str, form: str) -> None:
    assert told(findings(tmp_path, {**MANIFESTS, "AGENTS.md": form.format(command)}), "dead") == []


@pytest.mark.parametrize(
    ("makefile", "known"),
    [("include other.mk\n", True), ("$(ALL): x\n", True), ("define x\nendef\n", True), ("a:\n", False)],
)
def test_a_makefile_that_cannot_be_read_through_is_believed(
    tmp_path: Path, makefile: str, known: bool
) -> None:
    found = findings(tmp_path, {"Makefile": makefile, "AGENTS.md": "`make gone`\n"})
    assert told(found) == ([] if known else ["AGENTS.md:1:2 dead-command"])


def test_commands_in_a_place_made_by_the_block_are_not_judged(tmp_path: Path) -> None:
    block = "```sh\ngit clone https://example.com/x\ncd x\nmake gone\n```\n"
    assert told(findings(tmp_path, {"AGENTS.md": block})) == []


def test_one_missing_manifest_is_one_finding(tmp_path: Path) -> None:
    found = findings(tmp_path, {"AGENTS.md": "```\nnpm run b\nnpm test\nnpm run a\n```\n"})
    assert [f.message for f in found] == [
        "npm run b cannot run: there is no package.json in this project (nor can npm run a, npm test); "
        "mend or remove it"
    ]
