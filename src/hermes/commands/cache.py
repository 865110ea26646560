"""Commands about the prompt cache."""

from __future__ import annotations

from hermes.commands.guarded import waiting
from hermes.commands.records import Conversation
from hermes.errors import UsageError
from hermes.providers.profiles import profile_for
from hermes.text import many


async def cache(conversation: Conversation, argument: str) -> str:
    """What the cache did for this session: the verdict on one call, or a line for all and the last miss."""
    from hermes.wire.report import hit_shares, spark
    from hermes.wire.review import review
    from hermes.wire.words import explained, worth_telling

    agent = conversation.agent
    if argument == "pending":
        return await waiting(agent)
    if argument and not argument.isdecimal():
        raise UsageError("Say /cache for the whole session, /cache N for its call N, or /cache pending.")
    if agent.session is None:
        return "Nothing has been asked yet."
    models = agent.sources.config.models
    known = agent.model.profile

    def profile(model: str, provider: str):  # type: ignore[no-untyped-def]
        same = (model, provider) == (known.name, known.provider)
        return known if same else profile_for(model, provider, models)

    entries = await review(agent.store, agent.session.record.id, profile)
    if argument:
        found = next((e for e in entries if e.wire.n == int(argument)), None)
        if found is None:
            raise UsageError(f"There is no call {argument}; this session has made {len(entries)}.")
        return "\n".join(explained(found))
    last = worth_telling(entries)
    if last is None:
        return "Nothing has been asked yet."
    missed = sum(not e.verdict.is_calm for e in entries)
    line = f"{spark(hit_shares(entries))}  {many(len(entries), 'call')}, {missed} of them missed"
    return "\n".join([line, *explained(last)])
