"""What few programs say of an agent when they make one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from hermes.agent.extensions import Extensions
from hermes.agent.loop import Limits
from hermes.agent.result_notes import Hints
from hermes.frozen import frozen


def _now() -> datetime:
    return datetime.now().astimezone()


@frozen
class AgentOptions:
    """All of it has a default that comes from the home, its configuration or the environment.

    `system_message` is a program's own text in the prompt, `ephemeral_system_prompt` one told with the
    messages. `limits` are those of a turn. `hints` gives what is to be said of the places a tool call went to
    (default: the instructions of the folders it entered). `extensions` are plugins, external memory and MCP
    servers (default: the configured ones, unless tools are given). `clock` tells the time.
    """

    system_message: str = ""
    ephemeral_system_prompt: str | None = None
    limits: Limits | None = None
    hints: Hints | None = None
    extensions: Extensions | None = None
    clock: Callable[[], datetime] = _now
