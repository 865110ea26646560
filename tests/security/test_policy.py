"""Policies as config.yaml has them."""

from __future__ import annotations

from pathlib import Path

from hermes.config import load_config
from hermes.paths import Home
from hermes.security.policy import LENIENT, STRICT, Policies, Policy

ACCEPTED = frozenset({"a" * 64})


def test_without_a_word_in_the_configuration_the_defaults_hold() -> None:
    made, usual = Policies.from_config({}), Policies()
    for who in ("package", "owner", "caller", "project", "third_party", "memory_write", "recall", "plugin"):
        assert made.of(who) == usual.of(who)


def test_a_word_changes_what_it_names_and_nothing_else() -> None:
    made = Policies.from_config({"owner": {"high": "redact"}, "third_party": {"medium": "warn"}})
    assert made.of("owner") == Policy("redact", "warn")
    assert made.of("third_party") == Policy("block", "warn")
    assert made.of("caller") == LENIENT
    assert made.of("project") == Policy("block", "warn")


def test_a_scope_follows_third_party_until_it_has_a_rule_of_its_own() -> None:
    made = Policies.from_config({"third_party": {"high": "warn"}, "recall": {"high": "redact"}})
    assert made.of("plugin") == Policy("warn", "block")
    assert made.of("recall") == Policy("redact", "block")


def test_what_is_no_mode_changes_nothing() -> None:
    assert Policies.from_config({"third_party": {"high": "off"}}).of("third_party") == STRICT


def test_every_policy_knows_what_was_accepted_and_the_second_opinion() -> None:
    def judge(*_: object) -> str:
        return ""

    made = Policies.from_config({"recall": {}}, ACCEPTED, judge)
    for who in ("package", "owner", "caller", "project", "third_party", "recall", "plugin"):
        assert (made.of(who).accepted, made.of(who).second_opinion) == (ACCEPTED, judge)


def test_from_a_file(tmp_path: Path) -> None:
    home = Home(str(tmp_path))
    (tmp_path / "config.yaml").write_text("security:\n  scan:\n    owner: {high: warn}\n  first_use: deny\n")
    config = load_config(home)
    assert config.notices == ()
    assert config.security.first_use == "deny"
    assert Policies.from_config(config.security.scan).of("owner") == Policy("warn", "warn")
