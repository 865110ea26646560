"""Hermes under the bench, as a program uses it."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path

from cache_proxy import MODEL, STATED_WINDOW
from cache_script import PERSONA, PERSONALITY
from cache_worker import obey
from hermes import __version__
from hermes.messages import Annex, ToolSpec
from hermes.run_agent import AgentOptions, AIAgent
from hermes.tooling import absent_tool
from hermes.tools.file_tools import read_file
from hermes.turns import EphemeralOverlay, NoticeShown, TurnEnded, TurnRequest

CONFIG = f"""model:
  default: {MODEL}
  provider: custom
  base_url: {{url}}
  context_window: {STATED_WINDOW}
agent:
  personalities:
    {PERSONALITY}: {PERSONA}
"""
NOTES = ()
_SCHEMA = (
    '{"type":"object","properties":{"name":{"type":"string","description":"The name of the skill."}},'
    '"required":["name"],"additionalProperties":false}'
)
SKILL_VIEW = absent_tool(ToolSpec("skill_view", "Load a skill by its name.", _SCHEMA), "not in this bench")
"""Stands where the tool will: with it, the prompt has the index of skills."""


class Ours:
    """One agent. Its clock stands where it was set."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.runner = asyncio.Runner()

    def open(self, session: str, now: str) -> str:
        self.now = datetime.fromisoformat(now)
        self.agent = AIAgent(
            tools=(read_file, SKILL_VIEW),
            cwd=self.project,
            session_id=session,
            options=AgentOptions(clock=lambda: self.now),
        )
        return f"Hermes {__version__}"

    def turn(self, text: str, recall: str) -> dict[str, object]:
        return self.runner.run(self._turn(text, recall))

    async def _turn(self, text: str, recall: str) -> dict[str, object]:
        told = [EphemeralOverlay(Annex("recall", recall))] if recall else []
        ended, notices = TurnEnded("", reason="failed"), []
        async for event in self.agent.run(TurnRequest(text, tuple(told))):
            if isinstance(event, TurnEnded):
                ended = event
            if isinstance(event, NoticeShown):
                notices.append(event.notice.text)
        ok, session = ended.reason == "done", self.agent.session_id
        return {"text": ended.text, "ok": ok, "notices": notices, "session": session}

    def personality(self, value: str) -> None:
        self.agent.set_personality(value)

    def ephemeral(self, value: str) -> None:
        self.agent.ephemeral_system_prompt = value

    def clock(self, value: str) -> None:
        self.now = datetime.fromisoformat(value)

    def evict(self) -> None:
        session, personality = self.agent.session_id, self.agent.personality
        ephemeral = self.agent.ephemeral_system_prompt
        self.runner.run(self.agent.close())
        self.open(session, self.now.isoformat())
        self.agent.personality, self.agent.ephemeral_system_prompt = personality, ephemeral

    def close(self) -> None:
        self.runner.run(self.agent.close())
        self.runner.close()


def prepare(home: Path, url: str) -> None:
    """Write the configuration."""
    (home / "config.yaml").write_text(CONFIG.format(url=url), encoding="utf-8")


def main() -> None:
    ours = Ours(sys.argv[1])
    names = ("open", "turn", "personality", "ephemeral", "clock", "evict")
    obey({name: getattr(ours, name) for name in names})
    ours.close()


if __name__ == "__main__":
    main()
