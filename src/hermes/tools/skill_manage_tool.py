"""Writing skills: created, changed and removed in the home, checked by what reads them."""

from __future__ import annotations

from typing import Literal

from hermes.config import Config
from hermes.errors import SkillError
from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext, ToolError, tool

Action = Literal["create", "edit", "patch", "remove", "write_file", "remove_file", "restore"]


def skill_manage_tool(home: Home, config: Config, policies: Policies) -> Tool:
    """`skill_manage` over the skills folder of a home."""

    @tool()
    async def skill_manage(
        context: ToolContext,
        action: Action,
        name: str,
        content: str = "",
        category: str = "",
        path: str = "",
        old_string: str = "",
        new_string: str = "",
    ) -> str:
        """Change the skills of the home; see skill_manage.md."""
        from hermes.tools.skill_desk import Desk, Wish  # few sessions write skills

        desk = Desk(home, config, policies, context.seen)
        wish = Wish(name.strip(), content, category.strip("/ "), path.strip(), old_string, new_string)
        try:
            return desk.actions[action](wish)
        except SkillError as error:
            raise ToolError(str(error)) from None

    return skill_manage
