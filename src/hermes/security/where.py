"""Where a path lies: in the project, in a place that matters more than others, or elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from hermes.files import is_inside
from hermes.frozen import frozen
from hermes.security.dangers import Danger, places


@frozen
class Ground:
    """The places that judgements are made from, all real paths. `hermes` is Hermes' own home,
    `temporary` holds what is made to be thrown away.
    """

    project: str
    home: str
    hermes: str
    temporary: str = ""

    @classmethod
    def at(cls, project: str, hermes: str) -> Ground:
        """The places of this machine."""
        import tempfile  # 2 ms that only a call that changes something pays

        paths = (project, "~", hermes, tempfile.gettempdir())
        return cls(*(os.path.realpath(os.path.expanduser(path)) for path in paths))

    def inside(self, path: str) -> bool:
        """Whether a path, links followed, is the project or lies in it."""
        return is_inside(os.path.realpath(path), self.project)

    def of_writing(self, path: str) -> Iterator[Danger]:
        """What a person should know before a path is changed."""
        if is_inside(path, "/dev") and any(is_inside(path, p) for p in places()["harmless"]):
            return
        real = os.path.realpath(path)
        yield from self._named(places()["written"], path, real, "protected")
        if is_inside(real, self.hermes) and (not self.inside(path) or is_inside(self.hermes, self.project)):
            yield Danger("hermes-home", "it changes Hermes' own configuration or memory")
        for part, why in places()["in_project"]:
            if f"/{part}/" in f"{real}/".replace(os.sep, "/"):
                yield Danger("runs-by-itself", why)
        if not self.inside(path) and not (self.temporary and is_inside(real, self.temporary)):
            yield Danger("outside", f"it changes {path}, outside the project")

    def of_reading(self, path: str) -> Iterator[Danger]:
        """What a person should know before a path is read."""
        real = os.path.realpath(path)
        yield from self._named(places()["read"], path, real, "private")
        if real in (os.path.join(self.hermes, ".env"), os.path.join(self.hermes, "auth.json")):
            yield Danger("private", "it reads credentials")

    def _named(self, rows: Iterable[tuple[str, str]], path: str, real: str, name: str) -> Iterator[Danger]:
        for place, why in rows:
            full = self.home + place[1:] if place.startswith("~") else place
            if is_inside(real, full) or is_inside(path, full) or is_inside(real, os.path.realpath(full)):
                if not self.inside(path) or is_inside(full, self.project):
                    yield Danger(name, why)
                return
