"""What waits in a conversation for its next boundary, and what is told when a boundary is crossed."""

from __future__ import annotations

from hermes.agent.guard import What, landed, stage, staged, taking_over, when
from hermes.agent.session import Session
from hermes.config.records import Config
from hermes.contracts import Model
from hermes.errors import HermesError
from hermes.paths import Home
from hermes.provenance import Notice, Origin
from hermes.providers.connect import connect
from hermes.providers.profiles import profile_for
from hermes.sessions.contract import Store


class Boundaries:
    """The boundaries of one conversation. `told`: the price of the present model was told already."""

    def __init__(self, config: Config, home: Home, store: Store) -> None:
        self._config, self._home, self._store = config, home, store
        self.told = False

    def stage(self, session: Session, what: What, name: str, model: Model) -> str:
        """Have something wait for the next boundary; when that comes, in words."""
        entry = stage(session, what, name)
        return f"{entry} comes {when(session.last_input, model.profile, self._config.compaction)}."

    async def crossed(self, session: Session, model: Model) -> tuple[Model, tuple[Notice, ...]]:
        """The model that goes on with a session, and what a person should know: what waited and is there
        now, and what it costs when another model than the last reads it.
        """
        notices: list[Notice] = []
        for entry in await landed(session, self._store):
            notices.append(Notice("info", f"{entry} waited for this boundary and is there now", _ORIGIN))
            if entry.what == "model":
                model = self._connected(entry.name, model, notices)
        told, self.told = self.told, False
        if not told:
            record = session.record
            known = profile_for(record.model, record.provider, self._config.models)
            notices += taking_over(session, model.profile, known)
        return model, tuple(notices)

    def carried(self, session: Session | None, model: Model) -> Model:
        """The model of a new session that begins after this one."""
        for entry in staged(session.record.state) if session else ():
            if entry.what == "model":
                model = self._connected(entry.name, model, [])
        return model

    def _connected(self, name: str, model: Model, notices: list[Notice]) -> Model:
        """The model of that name, or the present one with a notice where it cannot be had."""
        try:
            model = connect(name, self._config, home=self._home)
        except HermesError as error:
            text = f"{name}, which waited, cannot take over: {error}"
            notices.append(Notice("error", text, _ORIGIN))
        else:
            self.told = True
        return model


_ORIGIN = Origin("cache")
