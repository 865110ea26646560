"""Where things live. A `Home` is a value, bound once: later changes of the environment do not move it."""

from __future__ import annotations

import os

from hermes.frozen import frozen
from hermes.provenance import Notice

SUBFOLDERS = ("memories", "skills", "cache")


@frozen
class Home:
    """A HERMES_HOME: the owner's identity, memory, skills and configuration."""

    root: str

    def path(self, *parts: str) -> str:
        return os.path.join(self.root, *parts)

    @property
    def soul(self) -> str:
        return self.path("SOUL.md")

    @property
    def config(self) -> str:
        return self.path("config.yaml")

    @property
    def memories(self) -> str:
        return self.path("memories")

    @property
    def skills(self) -> str:
        return self.path("skills")

    @property
    def trust(self) -> str:
        return self.path("trust.json")

    @property
    def cache(self) -> str:
        return self.path("cache")


def get_hermes_home() -> Home:
    """HERMES_HOME, or `~/.hermes`; absolute, links kept as the owner wrote them."""
    chosen = os.environ.get("HERMES_HOME", "").strip() or os.path.join("~", ".hermes")
    return Home(os.path.abspath(os.path.expanduser(chosen)))


def home_problem(home: Home) -> str:
    """Why a home can be no home at all; "" when it is one, or can be made."""
    if not os.path.lexists(home.root) or os.path.isdir(home.root):
        return ""
    if not os.path.exists(home.root):
        return f"the home {home.root} is a link that leads nowhere; mend it, or set HERMES_HOME to a folder"
    return f"the home {home.root} is not a folder; move it away, or set HERMES_HOME to a folder"


def ensure_home(home: Home, soul: str) -> tuple[Notice, ...]:
    """Create what is missing of a home, SOUL.md from `soul`; an existing file is never touched.

    A home that cannot be written is still usable: what failed is a notice.
    """
    made: list[Notice] = []
    try:
        new = not os.path.isdir(home.root)
        os.makedirs(home.root, mode=0o700, exist_ok=True)
        for name in SUBFOLDERS:
            os.makedirs(home.path(name), mode=0o700, exist_ok=True)
        if new:
            made.append(Notice("info", f"created your home at {home.root}"))
        if not os.path.lexists(home.soul):
            with open(home.soul, "x", encoding="utf-8", newline="\n") as out:
                out.write(soul)
            made.append(
                Notice(
                    "info", f"created {home.soul} from the default identity; edit it to change who answers"
                )
            )
    except FileExistsError:
        pass  # another process was first
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        made.append(
            Notice("warning", f"the home {home.root} cannot be written ({reason}); nothing was created there")
        )
    return tuple(made)


def can_be_written(path: str) -> bool:
    """Whether a file can be written, or made with the folders that it lies in."""
    if os.path.lexists(path) and not os.access(path, os.W_OK):
        return False
    folder = os.path.dirname(path)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return not os.path.isdir(folder) or os.access(folder, os.W_OK | os.X_OK)
