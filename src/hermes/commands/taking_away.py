"""`/copy` and `/export`: what was said, for elsewhere."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict

from hermes.commands.records import Conversation
from hermes.errors import UsageError
from hermes.files import replace_file
from hermes.messages import Message
from hermes.text import many

_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1[`~]*[ \t]*$", re.M | re.S)


async def copy(conversation: Conversation, argument: str) -> str:
    if conversation.copy is None:
        raise UsageError("There is no clipboard here; /export FILE writes the conversation to a file.")
    session = await conversation.agent.look()
    answers = [m.text for m in session.visible if m.role == "assistant" and m.text] if session else []
    if not answers:
        raise UsageError("There is no answer to copy yet.")
    text = _code_block(answers[-1], argument) if argument else answers[-1]
    conversation.copy(text)
    return f"Copied {len(text):,} characters, where the terminal allows it (OSC 52)."


def _code_block(answer: str, argument: str) -> str:
    blocks = [found[2] for found in _CODE.finditer(answer)]
    if not argument.isdigit() or not 0 < int(argument) <= len(blocks):
        raise UsageError(f"The last answer has {len(blocks)} code blocks; say /copy N with one of them.")
    return blocks[int(argument) - 1]


async def export(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    session = await agent.look()
    if session is None:
        raise UsageError("There is nothing to write yet.")
    name = argument or f"hermes-{session.record.id}.md"
    path = os.path.join(agent.workdir.path, os.path.expanduser(name))
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already; give another name: /export FILE")
    said = [stored.message for stored in await agent.store.messages(session.record.id)]
    if path.endswith(".jsonl"):
        from hermes.sessions.transfer import export as lines_of

        text = "".join([f"{line}\n" async for line in lines_of(agent.store, session.record.id)])
    elif path.endswith(".json"):
        body = {"session": session.record.id, "messages": [asdict(m) for m in said]}
        text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    else:
        text = "\n\n".join(_markdown(session.record.id, said)) + "\n"
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise UsageError(f"{path} could not be written: {(error.strerror or str(error)).lower()}") from None
    return f"Written to {path}: {many(len(said), 'message')}."


def _markdown(session_id: str, said: list[Message]) -> Iterator[str]:
    """The conversation for people: what was said, the calls, and the results folded away."""
    yield f"# Session {session_id}"
    for message in said:
        if message.role == "tool":
            fence = _fence(message.text)
            label = f"{message.name}{' failed' if message.error else ''}"
            yield f"<details><summary>{label}</summary>\n\n{fence}\n{message.text}\n{fence}\n\n</details>"
            continue
        if message.text:
            yield f"## {'You' if message.role == 'user' else message.role.capitalize()}\n\n{message.text}"
        for call in message.tool_calls:
            yield f"`{call.name}` {call.arguments}"


def _fence(text: str) -> str:
    """A fence that the text cannot close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * (longest + 1)
