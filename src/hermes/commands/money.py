"""What a conversation has cost so far."""

from __future__ import annotations

from hermes.contracts import ModelProfile
from hermes.messages import Usage
from hermes.providers.profiles import profile_for
from hermes.run_agent import AIAgent
from hermes.sessions.contract import Store
from hermes.sessions.records import CallRecord, SessionFilter
from hermes.wire.economics import Bill, ProfileOf, added, bill


async def calls_of(store: Store, session_id: str) -> tuple[CallRecord, ...]:
    """The calls of a session, then those of the sub-agents that it sent, and so on down."""
    found = list(await store.calls(session_id))
    for child in await store.list(SessionFilter(parent=session_id), limit=1_000):
        found += await calls_of(store, child.id)
    return tuple(found)


class Spending:
    """What the session of an agent has cost so far, kept up to date while it talks."""

    def __init__(self, agent: AIAgent) -> None:
        self._agent = agent
        self._session = ""
        self._seen = Usage()
        self._calls = 0
        self.bill = Bill()

    async def look(self) -> None:
        """Read the calls of the session from the store, when it is another than the last time."""
        agent = self._agent
        if not agent.session_id:
            self._session, self._seen, self._calls, self.bill = "", Usage(), 0, Bill()
        elif agent.session_id != self._session and (session := await agent.look()):
            self._session, self._seen, self._calls = agent.session_id, session.usage, session.calls
            self.bill = bill(await agent.store.calls(agent.session_id), profiles(agent))

    def see(self) -> None:
        """Add the calls that were made since."""
        session = self._agent.session
        if session is None or (session.calls == self._calls and session.record.id == self._session):
            return
        if session.record.id != self._session:
            self._session, self._seen, self._calls, self.bill = session.record.id, Usage(), 0, Bill()
        new = Usage(*(getattr(session.usage, n) - getattr(self._seen, n) for n in Usage.__dataclass_fields__))
        if session.calls > self._calls:
            self.bill = added(self.bill, new, self._agent.model.profile)
        self._seen, self._calls = session.usage, session.calls


def profiles(agent: AIAgent) -> ProfileOf:
    """The profiles of the models that answered in a session of this agent, by their names.

    A name that a provider made up for a model, of which no price is known, is taken for the present one.
    """
    present = agent.model.profile

    def profile_of(name: str) -> ModelProfile:
        if name in ("", present.name):
            return present
        found = profile_for(name, present.provider, agent.sources.config.models)
        return present if found.prices.input is None else found

    return profile_of
