"""Commands that look: what the prompt is made of, what fills the window, what it has cost."""

from __future__ import annotations

from hermes.agent.session import Session
from hermes.commands.money import calls_of, profiles
from hermes.commands.records import Conversation
from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.inspect.explain import explain, who_put
from hermes.inspect.table import table
from hermes.providers.tokens import count_tokens
from hermes.text import many
from hermes.wire.economics import Bill, bill, dollars, price_source, unpriced

_WIDTH = 78


async def prompt(conversation: Conversation, argument: str) -> str:
    session = await _begun(conversation)
    if argument == "full":
        return session.prompt.text
    if argument:
        return "\n\n".join(
            f"{f'{c.path}:{c.line}' if c.line else c.path or f'Hermes itself ({c.origin})'}\n"
            f"  stands at {c.tier} / {c.section}, character {c.offset:,}; vouched for: {c.trust}"
            for c in who_put(session.prompt, text=argument)
        )
    lines = table(explain(session.prompt, conversation.agent.model.profile), _WIDTH)
    return "\n".join(
        [
            f"The prompt of session {session.record.id}, frozen when it began:",
            "",
            *(line.text for line in lines),
            "",
            "/prompt full shows it; /prompt TEXT says who put a text there.",
        ]
    )


def prompt_words(conversation: Conversation) -> list[tuple[str, str]]:
    return [("full", "the very text")]


async def context(conversation: Conversation, argument: str) -> str:
    session = await _begun(conversation)
    profile = conversation.agent.model.profile
    parts = _parts(session, profile)
    total = sum(tokens for _, tokens in parts)
    window = profile.context_window
    lines = [_line(name, tokens, window or total) for name, tokens in parts if tokens]
    if window:
        lines.append(_line("free", max(window - total, 0), window))
    lines.append(_line("in use", total, window or total))
    if last := session.last_input:
        lines.append(f"The provider counted {last:,} tokens at the last call; the parts are our own count.")
    return "\n".join(lines)


def _parts(session: Session, profile: ModelProfile) -> list[tuple[str, int]]:
    """What is sent with the next request, by kind, in tokens."""

    def size(texts: list[str]) -> int:
        return count_tokens("\n".join(texts), profile).tokens if texts else 0

    tiers = [(f"prompt: {layer.tier.value}", size([layer.text])) for layer in session.prompt.layers]
    listed = [f"{t.name} {t.description} {t.parameters}" for t in session.tools]
    by_role = {"user": "your messages", "assistant": "answers", "tool": "tool results", "system": "system"}
    said: dict[str, list[str]] = {name: [] for name in by_role.values()}
    added: list[str] = []
    for message in session.visible:
        calls = [f"{c.name} {c.arguments}" for c in message.tool_calls]
        said[by_role[message.role]] += [message.text, *calls]
        added += [a.text for a in message.annex]
    spoken = [(name, size(texts)) for name, texts in said.items()]
    return [*tiers, ("tool list", size(listed)), *spoken, ("added at the call", size(added))]


def _line(name: str, tokens: int, of: int) -> str:
    share = tokens / of if of else 0
    return f"{name:<20}{tokens:>9,} {100 * share:5.1f} %  {'█' * round(share * 20)}".rstrip()


async def usage(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    session = await agent.look()
    if session is None or not session.calls:
        return "Nothing has been asked yet."
    total = bill(await calls_of(agent.store, session.record.id), profiles(agent))
    sent = total.calls - session.calls
    calls = many(total.calls, "call") + (f" ({sent} by sub-agents)" if sent else "")
    u = total.usage
    share = 100 * u.cache_read // u.input if u.input else 0
    return (
        f"{calls}, {u.input:,} tokens in ({u.cache_read:,} from the cache, {share} %; "
        f"{u.cache_write:,} written to it), {u.output:,} out\n{_money(total, agent.model.profile)}"
    )


def _money(total: Bill, profile: ModelProfile) -> str:
    if total.spent is None or total.without is None:
        said = unpriced(profile)
        return f"{said[0].upper()}{said[1:]}."
    said = f"{dollars(total.spent)} spent; without a cache it would be {dollars(total.without)}"
    if total.unpriced:
        said += f"; not counted: {many(total.unpriced, 'call')} without a known price"
    return f"{said} (prices: {price_source(profile)})"


async def _begun(conversation: Conversation) -> Session:
    session = await conversation.agent.look()
    if session is None:
        raise UsageError("The session has not begun; hermes prompt explain tells what it would get.")
    return session
