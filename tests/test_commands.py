"""Commands with a slash, as any face passes them on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hermes.commands import COMMANDS, Conversation, answer
from tests.agent.conftest import play
from tests.agent.talk import Talk, make_tool
from tests.world import write

__all__ = ["play"]

Play = Callable[..., Talk]


def test_every_command_answers_before_and_after_the_first_word(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        for name in COMMANDS:
            assert await answer(conversation, f"/{name}")
        conversation.ended = False
        await talk.say("hello")
        for name in sorted(set(COMMANDS) - {"new", "reset", "quit", "compress"}):
            assert await answer(conversation, f"/{name}")

    play(scene, ["ok"])


def test_personality_lists_with_the_active_one_marked(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert (await answer(conversation, "/personality")).endswith("\n* none")
        assert await answer(conversation, "/personality pirate") == (
            "Personality: pirate, for this session, from your next message on."
        )
        listed = (await answer(conversation, "/personality")).splitlines()
        assert [line for line in listed if line.startswith("*")] == [
            "* pirate       a good-humoured captain, matey"
        ]
        assert len(listed) == 16
        assert "pirate" in await answer(conversation, "/personality pirat")
        assert await answer(conversation, "/personality none") == (
            "Personality: none, for this session, from your next message on."
        )

    play(scene)


def test_unknown_ones_suggest(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert await answer(conversation, "/personalty x") == (
            "There is no command /personalty. Did you mean /personality?"
        )
        assert await answer(conversation, "/zzz") == "There is no command /zzz. /help lists them."

    play(scene)


def test_tools_are_listed_and_switched(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert await answer(conversation, "/tools") == "on  t                The tool t"
        assert (await answer(conversation, "/tools off t")).startswith("t is off")
        assert (await answer(conversation, "/tools")).startswith("off t")
        assert await answer(conversation, "/tools on x") == "there is no tool 'x'; the tools are t"
        assert (await answer(conversation, "/tools maybe")).startswith("Say /tools on NAME")

    play(scene, tools=[make_tool("t", lambda: "")])


def test_a_toolset_is_switched_by_its_name(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert (await answer(conversation, "/tools")).endswith(
            "\ntoolset files        patch, write_file\ntoolset small        write_file"
        )
        told = await answer(conversation, "/tools off files")
        assert told == "patch, write_file are off: they stay listed and answer so."
        assert talk.agent.off == {"patch", "write_file"}
        assert await answer(conversation, "/tools on files") == "patch, write_file are on."

    play(scene, tools=[make_tool("patch", lambda: ""), make_tool("write_file", lambda: "")])


def test_refresh_tells_the_price_first(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert "will get a new prompt anyway" in await answer(conversation, "/refresh")
        await talk.say("hello")
        told = await answer(conversation, "/refresh")
        assert "tokens that are cached now are read anew" in told
        assert [e.reason for e in await talk.store.epochs(talk.agent.session_id)] == ["new session"]
        await answer(conversation, "/refresh yes")
        assert [e.reason for e in await talk.store.epochs(talk.agent.session_id)] == [
            "new session",
            "refresh",
        ]
        await talk.say("again")

    play(scene, ["ok", "ok"])


def test_resume_goes_on_with_another_session(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say("first session")
        first = talk.agent.session_id
        await answer(conversation, "/new")
        await talk.say("second session")
        assert first in await answer(conversation, "/sessions")
        assert await answer(conversation, f"/resume {first}") == f"Going on with session {first}."
        await talk.say("back")
        assert [m["content"].rpartition("\n")[2] for m in talk.last_messages()[1:]] == [
            "first session",
            "ok",
            "back",
        ]
        assert "no session" in await answer(conversation, "/resume nowhere")

    play(scene, ["ok"] * 3)


def test_skills_are_listed_shown_and_switched(play: Play) -> None:
    """A skill that is switched off is told at the tail; the frozen prompt stays."""

    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say("hello")
        listed = (await answer(conversation, "/skills")).splitlines()
        assert [line.split()[:2] for line in listed] == [
            ["on", "arxiv"],
            ["on", "code-review"],
            ["on", "test-driven-development"],
        ]
        assert (await answer(conversation, "/skills show arxiv")).endswith("# arxiv")
        assert (await answer(conversation, "/skills of arxiv")).startswith("Say /skills, or /skills with")
        assert "did you mean arxiv" in await answer(conversation, "/skills off arxif")
        assert (await answer(conversation, "/skills off arxiv")).startswith("arxiv is off")
        assert (await answer(conversation, "/skills")).startswith("disabled  arxiv")
        assert "arxiv" in (Path(talk.home.root) / "config.yaml").read_text(encoding="utf-8")
        await talk.say("and now?")
        assert '<added kind="skills changed">' in talk.last_messages()[-1]["content"]
        assert (await answer(conversation, "/skills on arxiv")).startswith("arxiv is on")
        assert (await answer(conversation, "/skills")).startswith("on        arxiv")

    play(scene, ["ok"] * 2, [make_tool("skill_view", lambda: "")])


def test_a_skill_is_followed_at_the_word_of_the_person(play: Play) -> None:
    """Also one that the model is not offered; it stands on one message, and stays there."""

    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        text = "---\nname: ship\ndescription: Ship it\ndisable-model-invocation: true\n---\nShip it.\n"
        write(Path(talk.home.root) / "skills" / "ship" / "SKILL.md", text)
        assert (await answer(conversation, "/skills use ship")).startswith("ship goes with your next message")
        await talk.say("now")
        said = talk.last_messages()[-1]["content"]
        told = "The user has started the skill ship. Follow its instructions:"
        assert f'<added kind="skill">\n{told}\nShip it.\n</added>' in said
        assert said.endswith("now")
        await talk.say("and then?")
        assert "Ship it." not in talk.last_messages()[-1]["content"]
        await answer(conversation, "/skills off arxiv")
        assert "arxiv is off: disabled" in await answer(conversation, "/skills use arxiv")

    play(scene, ["ok"] * 2)
