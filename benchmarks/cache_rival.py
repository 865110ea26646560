"""hermes-agent 0.19.0 under the bench, through its own public ways; NOTES say which.

Settings that would cost it more are off: compression, nudges, the probe of the machine, long guidance.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cache_worker import obey

NOTES = (
    "recall: a plugin's pre_llm_call hook",
    "personality: an ephemeral prompt, as its own /personality makes it",
    "a change of either: a new agent on the stored history, as its gateway makes one",
    "midnight: a change of its time zone; it has no way to set its clock",
    "memory, skill, AGENTS.md: the files are written, as for ours; it tells the model in the next session",
)
MODEL, TOOLS = "bench-model", ["read_file", "skills_list", "skill_view"]
BEFORE, AFTER = "Etc/GMT+12", "Etc/GMT-14"
"""Zones that are always more than a day apart."""

CONFIG = """model:
  default: bench-model
  provider: custom
  base_url: {url}
  api_key: bench-key-0000000000
  context_length: 1000000
compression:
  enabled: false
memory:
  memory_enabled: true
  user_profile_enabled: true
  nudge_interval: 0
skills:
  creation_nudge_interval: 0
security:
  allow_lazy_installs: false
plugins:
  enabled: [bench-recall]
agent:
  environment_probe: false
  task_completion_guidance: false
  parallel_tool_call_guidance: false
"""
PLUGIN = "name: bench-recall\nversion: 1.0.0\ndescription: Recall for a bench.\n"
HOOK = """import os
from pathlib import Path


def recall(**_):
    path = Path(os.environ["HERMES_HOME"], "recall.txt")
    return {"context": path.read_text()} if path.exists() else None


def register(ctx):
    ctx.register_hook("pre_llm_call", recall)
"""


class Rival:
    """One agent over its session store. A face keeps the history of a session between turns; so does this."""

    def __init__(self, project: str) -> None:
        os.chdir(project)
        os.environ["TERMINAL_CWD"] = project
        os.environ["HERMES_TIMEZONE"] = BEFORE
        import model_tools  # noqa: F401 - it registers the tools
        import run_agent
        from hermes_cli.plugins import discover_plugins
        from hermes_state import SessionDB
        from toolsets import create_custom_toolset

        discover_plugins()
        create_custom_toolset("bench", "What the bench needs.", TOOLS)
        self.make = run_agent.AIAgent
        self.home = Path(os.environ["HERMES_HOME"])
        self.store = SessionDB(self.home / "state.db")
        self.agent: Any = None
        self.prompt = self.persona = ""

    def open(self, session: str, now: str) -> str:
        self.history = self.store.get_messages_as_conversation(session) if session else []
        self.agent = self._agent(session or None)
        return f"hermes-agent {version('hermes-agent')}"

    def _agent(self, session: str | None) -> Any:
        import yaml

        model = yaml.safe_load((self.home / "config.yaml").read_text())["model"]
        return self.make(
            base_url=model["base_url"],
            api_key=model["api_key"],
            provider="custom",
            model=MODEL,
            quiet_mode=True,
            platform="api_server",
            session_db=self.store,
            session_id=session,
            tool_delay=0,
            enabled_toolsets=["bench"],
            ephemeral_system_prompt="\n\n".join(filter(None, (self.prompt, self.persona))) or None,
            load_soul_identity=True,
        )

    def turn(self, text: str, recall: str) -> dict[str, object]:
        noted = self.home / "recall.txt"
        if recall:
            noted.write_text(recall, encoding="utf-8")
        said = self.agent.run_conversation(text, conversation_history=self.history)
        noted.unlink(missing_ok=True)
        self.history = said["messages"]
        ok = bool(said.get("completed")) and not said.get("failed")
        session = str(self.agent.session_id)
        return {"text": said.get("final_response"), "ok": ok, "session": session}

    def ephemeral(self, value: str) -> None:
        self.prompt = value
        self.evict()

    def personality(self, value: str) -> None:
        self.persona = "" if value == "none" else os.environ["BENCH_PERSONA"]
        self.evict()

    def clock(self, value: str) -> None:
        import hermes_time

        os.environ["HERMES_TIMEZONE"] = AFTER
        hermes_time.reset_cache()

    def evict(self) -> None:
        session = str(self.agent.session_id)
        self.agent.close()
        self.open(session, "")

    def close(self) -> None:
        self.agent.close()
        self.store.close()


def prepare(home: Path, url: str) -> None:
    """Write the configuration and the plugin."""
    (home / "config.yaml").write_text(CONFIG.format(url=url), encoding="utf-8")
    plugin = home / "plugins" / "bench-recall"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text(PLUGIN, encoding="utf-8")
    (plugin / "__init__.py").write_text(HOOK, encoding="utf-8")


def main() -> None:
    rival = Rival(sys.argv[1])
    names = ("open", "turn", "personality", "ephemeral", "clock", "evict")
    obey({name: getattr(rival, name) for name in names})
    rival.close()


if __name__ == "__main__":
    main()
