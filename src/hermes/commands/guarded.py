"""Commands that end an epoch, or would: each tells first what that costs, and may wait for a boundary."""

from __future__ import annotations

from hermes.agent.guard import Price, decide, price_of, staged, unstage, when
from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.providers.connect import connect
from hermes.providers.resolve import resolve
from hermes.providers.tokens import estimate_tokens
from hermes.run_agent import AIAgent

_WORDS = ("now", "yes", "later")


async def switch_model(agent: AIAgent, argument: str) -> str:
    """`NAME [now|later]`."""
    name, _, said = argument.partition(" ")
    if said and said not in _WORDS:
        raise UsageError("Say /model NAME, /model NAME now, or /model NAME later.")
    config, home = agent.sources.config, agent.sources.home
    profile = resolve(name.partition(",")[0], config, home)[1]
    same = (profile.name, profile.provider) == (agent.model.profile.name, agent.model.profile.provider)
    price = Price() if same else await _price(agent, profile)
    choice, told = await decide(
        config.cache.guard, f"{profile.name} takes over", f"/model {name}", price, said, agent.ask
    )
    if choice == "no":
        return told
    model = connect(name, config, home=home)  # so that a name that cannot be had is told of now
    if choice == "later" and agent.session_id:
        await model.close()
        return f"{told} {_capital(await agent.stage('model', name))}".strip()
    agent.set_model(model, told=True)
    at = f" at {profile.provider}" if profile.provider else ""
    return f"Model: {profile.name}{at}" + (f". {told}" if told and price.tokens else "")


async def renew_prompt(agent: AIAgent, said: str) -> str:
    """`[now|later]`."""
    if said and said not in _WORDS:
        raise UsageError("Say /refresh, /refresh now, or /refresh later.")
    policy, price = agent.sources.config.cache.guard, await _price(agent)
    choice, told = await decide(policy, "A new prompt", "/refresh", price, said, agent.ask)
    if choice == "no":
        return f"{told} What has changed is told to the model without that."
    if choice == "later":
        return f"{told} {_capital(await agent.stage('refresh'))}".strip()
    await agent.refresh()
    return "The prompt was built anew; the conversation goes on behind it."


async def summary_waits(agent: AIAgent, argument: str) -> tuple[str, str]:
    """What is said where a summary is to wait, "" where it is made; and what it is to keep with care."""
    first, _, rest = argument.partition(" ")
    said, focus = (first, rest) if first in _WORDS else ("", argument)
    session, policy = agent.session, agent.sources.config.cache.guard
    if session is None or (policy in ("tell", "allow") and said != "later"):  # the price is told as it begins
        return "", focus
    choice, told = await decide(policy, "A summary", "/compress", await _price(agent), said, agent.ask)
    if choice == "now":
        return "", focus
    by_itself = when(session.last_input, agent.model.profile, agent.sources.config.compaction)
    return f"{told} Nothing was summarised. It is done {by_itself}.".strip(), focus


async def late_tools(agent: AIAgent) -> str:
    """The price of having tools now that wait for a boundary; with `ask` or `allow` they may come now."""
    session = agent.session
    if session is None:
        return ""
    listed = {t.name for t in session.tools}
    late = [name for name in agent.tools if name not in listed and name not in agent.off]
    if not late:
        unstage(session, "tools")
        return ""
    await agent.stage("tools", ", ".join(late))
    policy, price = agent.sources.config.cache.guard, await _price(agent)
    if policy not in ("ask", "allow"):
        return f" With /refresh now: {price}."
    choice, _ = await decide(policy, f"{', '.join(late)} now", "/refresh", price, "", agent.ask)
    if choice != "now":
        return ""
    await agent.refresh()
    return " The prompt was built anew, and they are there."


def told_at_the_tail(agent: AIAgent) -> str:
    """What a personality costs: it is told at the tail, so nothing is read anew."""
    if agent.session is None or not agent.session.last_input:
        return ""
    tokens = estimate_tokens(agent.personality_text(), agent.model.profile)
    return f" It is told at the tail, in about {tokens:,} tokens; all that is cached stays cached."


async def waiting(agent: AIAgent) -> str:
    """What waits for the next boundary of the session, and when that comes."""
    session = await agent.look()
    found = staged(session.record.state) if session else ()
    if session is None or not found:
        return "Nothing waits for a boundary."
    comes = when(session.last_input, agent.model.profile, agent.sources.config.compaction)
    return "\n".join([*(_capital(f"{entry}, since {entry.at[:16]}") for entry in found), f"Comes {comes}."])


async def _price(agent: AIAgent, after: ModelProfile | None = None) -> Price:
    return price_of(await agent.look(), agent.model.profile, agent.clock(), after)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
