"""What the model is told of its surroundings: the host (stable tier), the working directory (context tier).

The host's facts outlast a session: no clock, no directory, no git among them. No program is started to
find anything out, and all that comes from outside passes the gate.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import NamedTuple

from hermes.agent.workdir import Project
from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, Passage, Span, Trust
from hermes.security.gate import admit
from hermes.security.policy import Policies

_SHELLS = frozenset(("bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "nu", "elvish", "xonsh", "pwsh"))
_SYSTEMS = {"Darwin": "macOS", "win32": "Windows"}
# Compiled at their first use: no start needs them all.
_MACOS_VERSION = r"<key>ProductVersion</key>\s*<string>([\d.]{1,20})</string>"
_LINUX_NAME = r"(?m)^PRETTY_NAME=(?:\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|([^\s\"'#]{1,200}))"
_HEAD = r"ref: refs/heads/([^\s~^:?*\[\\]{1,250})\n?\Z|([0-9a-f]{40}|[0-9a-f]{64})\n?\Z"
_GIT_FOLDER = r"gitdir: ([^\n\0]{1,4096})\n?\Z"
_UNFIT = re.compile(r"[^\w .,:()/+~-]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FACT_LIMIT = 80


class Kernel(NamedTuple):
    """What the running system says of itself."""

    name: str
    release: str
    machine: str


@frozen
class Host:
    """The machine, as far as it stays the same between sessions; "" and 0 mean: not known or not so.

    `system` is `macOS`, `Windows`, `Android`, the distribution's name, or what the kernel calls itself. `wsl`
    is the version. `backend` names a remote place where commands run; they do not see this machine then.
    """

    system: str = ""
    version: str = ""
    arch: str = ""
    wsl: int = 0
    container: str = ""
    shell: str = ""
    backend: str = ""

    @property
    def hints(self) -> tuple[str, ...]:
        """The texts under `prompts/environment/` that apply."""
        if self.backend:
            return ("remote",)
        applies = {
            "wsl": bool(self.wsl),
            "container": bool(self.container),
            "termux": self.system == "Android",
            "macos": self.system == "macOS",
            "windows": self.system == "Windows",
        }
        return tuple(name for name, here in applies.items() if here)

    @property
    def line(self) -> str:
        """The facts in one line of plain characters; "" when nothing is known."""
        if self.backend:
            return f"Commands run on: {_fit(self.backend)}."
        facts = [
            f"{self.system} {self.version}",
            self.arch,
            f"under WSL {self.wsl} on Windows" if self.wsl else "",
            f"in a container ({self.container})" if self.container else "",
            f"shell {self.shell}" if self.shell else "",
        ]
        known = ", ".join(filter(None, map(_fit, facts)))
        return f"Host: {known}." if known else ""

    def passage(self, policies: Policies | None = None) -> Passage:
        """The section of the stable tier: the facts, then what follows from them."""
        facts = _quoted(self.line, "host", "", "owner", policies)
        return Passage.joined("\n", (facts, *(prompt_text(f"environment/{name}") for name in self.hints)))


def host_facts(
    environ: Mapping[str, str], *, backend: str = "", kernel: Kernel | None = None, root: str = "/"
) -> Host:
    """The host this process runs on. Never raises.

    `environ` is the environment as it was read at start; `kernel` and `root` default to the real ones.
    """
    kernel = kernel or _kernel(environ)
    termux = "com.termux" in environ.get("PREFIX", "")
    system, version = ("Android", "") if termux else _system(kernel, root)
    release = kernel.release.lower()
    return Host(
        system=system,
        version=version,
        arch=kernel.machine,
        wsl=(2 if "wsl2" in release else 1) if "microsoft" in release else 0,
        container=_container(environ, root),
        shell=_shell(environ),
        backend=backend,
    )


def _kernel(environ: Mapping[str, str]) -> Kernel:
    if hasattr(os, "uname"):
        name = os.uname()
        return Kernel(name.sysname, name.release, name.machine)
    # Looked up by name, since a type checker sees the `sys` of one system only.
    version: tuple[int, ...] = getattr(sys, "getwindowsversion", tuple)()
    release = ".".join(map(str, version[:3]))
    return Kernel(sys.platform, release, environ.get("PROCESSOR_ARCHITECTURE", "").lower())


def _system(kernel: Kernel, root: str) -> tuple[str, str]:
    """The name and version people know a system by."""
    name = _SYSTEMS.get(kernel.name, kernel.name)
    if name == "Linux":
        found = re.search(_LINUX_NAME, _read(os.path.join(root, "etc/os-release")))
        return ("Linux", f"({found[1] or found[2] or found[3]})") if found else (name, "")
    if name == "macOS":
        found = re.search(
            _MACOS_VERSION, _read(os.path.join(root, "System/Library/CoreServices/SystemVersion.plist"))
        )
        return name, found[1] if found else ""
    if name == "Windows":
        build = kernel.release.rpartition(".")[2]
        return name, "11" if build.isdecimal() and int(build) >= 22000 else kernel.release.partition(".")[0]
    return name, kernel.release


def _container(environ: Mapping[str, str], root: str) -> str:
    if "KUBERNETES_SERVICE_HOST" in environ:
        return "Kubernetes"
    if os.path.exists(os.path.join(root, ".dockerenv")):
        return "Docker"
    if os.path.exists(os.path.join(root, "run/.containerenv")):
        return "Podman"
    return environ.get("container", "")


def _shell(environ: Mapping[str, str]) -> str:
    path = environ.get("SHELL", "") or environ.get("COMSPEC", "").replace("\\", "/")
    name = os.path.basename(path).lower().removesuffix(".exe")
    return name if name in _SHELLS or name == "cmd" else ""


def working_directory_lines(project: Project, policies: Policies | None = None) -> Passage:
    """The working directory and, in a repository, its root and branch; for the context tier. Never raises."""
    lines = [
        _quoted(f"Working directory: {project.cwd}", "working directory", project.cwd, "owner", policies)
    ]
    if project.in_git:
        lines.append(_quoted(f"Git root: {project.root}", "git root", project.root, "owner", policies))
        lines.append(_branch(os.path.join(_git_folder(project.root), "HEAD"), policies))
    return Passage.joined("\n", lines)


def _branch(head: str, policies: Policies | None) -> Passage:
    found = re.match(_HEAD, _read(head))
    if not found:
        return Passage(notices=(Notice("info", f"the git branch is not known: {head} does not name one"),))
    branch, commit = found.groups()
    text = f"Git branch: {branch}" if branch else f"Git commit: {commit[:12]} (no branch)"
    return _quoted(text, "git branch", head, "project", policies)


def _git_folder(root: str) -> str:
    """The folder that holds HEAD: `.git`, or where the `.git` file of a worktree or submodule points."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    found = re.match(_GIT_FOLDER, _read(path))
    return os.path.join(root, found[1]) if found else path


def _read(path: str) -> str:
    """The text of a small file; "" when it cannot be had."""
    try:
        return read_file(path, max_bytes=65536).data.decode("utf-8", "replace")
    except FileRefused:
        return ""


def _fit(fact: str) -> str:
    return _UNFIT.sub("", fact)[:_FACT_LIMIT].strip()


def _quoted(text: str, name: str, path: str, trust: Trust, policies: Policies | None) -> Passage:
    """One line of outside text, through the gate."""
    if not text:
        return Passage()
    line = _CONTROL.sub("\ufffd", text)
    transforms = ("control characters replaced",) if line != text else ()
    passage = Passage(line, (Span(0, len(line), Origin(name, path, trust=trust), transforms),))
    return admit(passage, name=f"the {name}", policy=(policies or Policies()).of(trust)).passage
