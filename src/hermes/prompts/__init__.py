"""Texts for the model, one `.md` file each, shipped with the package."""

from __future__ import annotations

import os
from functools import cache

from hermes.provenance import Passage

_FOLDER = os.path.dirname(__file__)


@cache
def prompt_text(name: str) -> Passage:
    """The text `name`.md without its final line end, as a passage of Hermes' own."""
    with open(os.path.join(_FOLDER, name + ".md"), encoding="utf-8", newline="\n") as file:
        return Passage.own(file.read().rstrip("\n"), "hermes", f"hermes/prompts/{name}.md")
