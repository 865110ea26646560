"""The working directory, decided once, and the project it lies in."""

from __future__ import annotations

import os
import sys
from functools import cache

from hermes.errors import FileRefused, UsageError
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.prompt import WorkDir
from hermes.provenance import Notice

_POINTER_BYTES = 8_192


@frozen
class Project:
    """A working directory with its repository. `root` is the git root, or the directory itself."""

    cwd: str
    root: str
    in_git: bool
    notices: tuple[Notice, ...] = ()

    @property
    def chain(self) -> tuple[str, ...]:
        """The directories from the root down to the working directory."""
        found = [self.cwd]
        while found[-1] != self.root:
            found.append(os.path.dirname(found[-1]))
        return tuple(reversed(found))

    def shown(self, path: str) -> str:
        """A path as the model and the reading tool know it: relative to the working directory, with `/`."""
        if path.startswith(self.cwd + os.sep):
            relative = path[len(self.cwd) + 1 :]
        else:
            relative = os.path.relpath(path, self.cwd)
        return relative.replace(os.sep, "/")


def resolve_cwd(argument: str = "", configured: str = "") -> tuple[WorkDir, tuple[Notice, ...]]:
    """Choose the working directory: the argument, else the configuration, else where the process stands.

    Links are resolved here, once. Only a chosen directory has authority inside Hermes' own install tree.
    UsageError when the argument is no directory; a bad configured one falls through with a notice.
    """
    if argument:
        path = os.path.realpath(os.path.expanduser(argument))
        if not os.path.isdir(path):
            raise UsageError(f"no such directory: {argument}")
        return WorkDir(path, "argument"), ()
    notices: list[Notice] = []
    if configured:
        path = os.path.realpath(os.path.expanduser(configured))
        if os.path.isdir(path):
            return WorkDir(path, "config"), ()
        notices.append(Notice("warning", f"agent.cwd is no directory: {configured}; it was passed over"))
    try:
        path, chosen_by = os.path.realpath(os.getcwd()), "process"
    except OSError:
        path, chosen_by = os.path.realpath(os.path.expanduser("~")), "fallback"
        notices.append(Notice("warning", f"the current directory is gone; working in {path}"))
    if _in_install_tree(path):
        text = (
            f"no project context is active: {path} is Hermes' own install tree and was not chosen; "
            "choose a directory with --cwd or agent.cwd"
        )
        return WorkDir(path, chosen_by, authority=False), (*notices, Notice("warning", text))
    return WorkDir(path, chosen_by), tuple(notices)


def find_project(cwd: str) -> Project:
    """The repository around a directory (a `.git` folder or file, up to the disk's root), or just itself.

    A `.git` that belongs to neither this user nor the directory's owner may have been planted above
    it; it is passed over with a notice.
    """
    notices: list[Notice] = []
    at = cwd
    while True:
        owner = _owner(os.path.join(at, ".git"))
        if owner is not None:
            if owner in {_user(), _owner(cwd)}:
                return Project(cwd, at, True, tuple(notices))
            text = f"{at} is a repository of another user; files above {cwd} are not read"
            notices.append(Notice("warning", text))
            return Project(cwd, cwd, False, tuple(notices))
        parent = os.path.dirname(at)
        if parent == at:
            return Project(cwd, cwd, False, tuple(notices))
        at = parent


def main_checkout(root: str) -> str:
    """The main checkout that a worktree belongs to, whose trust is its own too; any other root as it is.

    A `.git` file is a text that anyone can write, with the name of a repository that you trust in it. So it
    counts only when that repository names this very worktree in turn.
    """
    try:
        kind, _, inner = _text_of(os.path.join(root, ".git")).partition(":")
        if kind != "gitdir":
            return root
        inner = os.path.realpath(os.path.join(root, inner.strip()))
        back = os.path.join(inner, _text_of(os.path.join(inner, "gitdir")))
        common = os.path.realpath(os.path.join(inner, _text_of(os.path.join(inner, "commondir"))))
    except (FileRefused, ValueError):
        return root
    named = os.path.realpath(os.path.dirname(back)) == os.path.realpath(root)
    inside = os.path.dirname(inner) == os.path.join(common, "worktrees")
    if not (named and inside and os.path.basename(back) == ".git" == os.path.basename(common)):
        return root
    return os.path.dirname(common)


def _text_of(path: str) -> str:
    return read_file(path, max_bytes=_POINTER_BYTES).data.decode().strip()


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _in_install_tree(path: str) -> bool:
    return any(path == root or path.startswith(root + os.sep) for root in _install_roots())


@cache
def _install_roots() -> tuple[str, ...]:
    """The package's own folder, the checkout it runs from, and its virtual environment."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    above = os.path.dirname(package)
    checkout = os.path.dirname(above)
    roots = [package]
    if os.path.basename(above) == "src" and os.path.isfile(os.path.join(checkout, "pyproject.toml")):
        roots.append(checkout)
    if sys.prefix != sys.base_prefix:
        roots.append(os.path.realpath(sys.prefix))
    return tuple(roots)
