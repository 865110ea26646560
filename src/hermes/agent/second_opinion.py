"""A model is asked about texts that the scanner only warns of, where `security.second_opinion` names one.

It can keep a text out, never let one in: what it is asked about would be loaded anyway, so that a text which
talks it round has gained nothing. Each text is asked about once; the answer is kept in the home by content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from hermes.errors import ModelError
from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.provenance import digest_of
from hermes.security.expressions import compiled
from hermes.security.findings import Finding, shown
from hermes.security.found import OPINIONS, Found
from hermes.security.gate import findings_in
from hermes.security.policy import SecondOpinion

if TYPE_CHECKING:
    from hermes.config import Config
    from hermes.contracts import Model

SECONDS = 30.0
"""How long an answer may take."""
# A longer text is shown only so far around each finding, and so much of it in all.
_WHOLE, _AROUND = 24_000, 1_500
_MAX_TOKENS = 2_048
_ANSWER = r"(?s)\W*(HONEST|ATTACK)\b\W*(.*)"


def second_opinion(config: Config, home: Home) -> SecondOpinion | None:
    """The judge that the configuration names, or None. Nothing is sent before it is asked."""
    name = config.security.second_opinion
    if not name:
        return None

    def connected() -> Model:
        from hermes.providers.connect import connect_one

        return connect_one(name, config, home=home)

    return Judge(connected, name, home.cache)


class Judge:
    """Asks a model about a text, once for each content; answers are kept in `folder`."""

    def __init__(self, connect: Callable[[], Model], name: str, folder: str) -> None:
        self._connect, self._name = connect, name
        version = digest_of(f"{prompt_text('second_opinion')}\n{name}")
        self._known = Found(self._judged, lambda: version, OPINIONS)
        self._known.keep_in(folder)

    def __call__(self, text: str, _: tuple[Finding, ...]) -> str:
        """Why the text must stay out; "" when it may come in. ModelError or ConfigError when nobody says."""
        opinion = self._known.of(text)
        self._known.save()
        return opinion[0].why if opinion else ""

    def _judged(self, text: str) -> tuple[Finding, ...]:
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, "hermes-second-opinion") as beside:  # a loop may be running in this thread
            answer = beside.submit(asyncio.run, self._answer(text)).result()
        said = compiled(_ANSWER).match(answer)
        if not said:
            raise ModelError(f"{self._name} gave no verdict but said: {shown(answer)!r}")
        if said[1] == "HONEST":
            return ()
        why = f"an attack, says {self._name}: {shown(said[2])}"
        return (Finding("second_opinion", "opinion", "high", 0, len(text), 1, 1, "", why),)

    async def _answer(self, text: str) -> str:
        import asyncio

        from hermes.messages import Completed, Message, ModelRequest

        model = self._connect()
        system = (str(prompt_text("second_opinion")), "", "")
        asked = (Message("user", question(text)),)
        request = ModelRequest(model.profile.name, system, (), asked, max_tokens=_MAX_TOKENS)
        try:
            async with asyncio.timeout(SECONDS), aclosing(model.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        return event.message.text
        except TimeoutError:
            raise ModelError(f"{self._name} did not answer within {SECONDS:.0f} s") from None
        finally:
            await model.close()
        raise ModelError(f"{self._name} gave no answer")


def question(text: str) -> str:
    """What the model is shown: the text, or of a long one what stands around the findings, between marks."""
    mark = f"=== {digest_of(text)[:16]} ==="  # a text cannot hold the digest of itself
    part = text if len(text) <= _WHOLE else "\n[…]\n".join(_excerpts(text))[:_WHOLE]
    return f"{mark}\n{part}\n{mark}"


def _excerpts(text: str) -> Iterator[str]:
    end = 0
    for finding in findings_in(text):
        if finding.severity == "low" or finding.end <= end:
            continue
        start = max(end, finding.start - _AROUND)
        end = finding.end + _AROUND
        yield text[start:end]
