"""Where no model is set: what is at hand is named, and nothing is used unasked."""

from __future__ import annotations

from hermes.config.records import Config, ModelConfig
from hermes.providers.endpoints import builtin
from hermes.providers.offers import Offer, offer_notices, offers
from hermes.providers.profiles import profile_for

KEYS = {"OPENAI_API_KEY": "sk-1", "LAB_KEY": "sk-2", "GLM_API_KEY": "sk-3"}
LAB = {"providers": {"lab": {"base_url": "https://lab.example/v1", "key": "LAB_KEY"}}}


def environment(name: str) -> str:
    return KEYS.get(name, "")


def test_the_keys_at_hand_the_owners_own_first() -> None:
    assert offers(Config(free=LAB), environment) == (
        Offer("lab", "LAB_KEY", ""),
        Offer("openai", "OPENAI_API_KEY", "gpt-5.5"),
        Offer("zai", "GLM_API_KEY", ""),
    )
    assert offers(Config(), lambda _: " ") == ()


def test_the_notice_has_the_command() -> None:
    (notice,) = offer_notices(Config(free=LAB), environment)
    assert notice.level == "warning"
    assert "OPENAI_API_KEY is here: hermes models use openai:gpt-5.5" in notice.text
    assert "hermes models use lab:MODEL  (hermes models list lab names them)" in notice.text
    assert "sk-" not in notice.text
    (plain,) = offer_notices(Config(), lambda _: "")
    assert plain.level == "info"
    assert offer_notices(Config(model=ModelConfig(default="local")), environment) == ()


def test_what_is_offered_is_known() -> None:
    for endpoint in builtin().values():
        if endpoint.model:
            assert profile_for(endpoint.model, endpoint.name).family != "unknown"
