"""What a session has not stored yet; the next step stores it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes.sessions.records import (
    Blob,
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
)


@dataclass(slots=True)
class Unsaved:
    """Everything new since the last step. `session` is its record, if that changed, `prompt` a new prompt."""

    messages: list[StoredMessage] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    epochs: list[EpochRecord] = field(default_factory=list)
    blobs: list[Blob] = field(default_factory=list)
    session: SessionRecord | None = None
    prompt: tuple[bytes, ...] = ()

    def __bool__(self) -> bool:
        new = self.messages or self.fragments or self.calls or self.epochs or self.blobs or self.session
        return bool(new)

    def step(self, at: str) -> Step:
        """All of it, as one step."""
        return Step(
            at,
            tuple(self.messages),
            tuple(self.fragments),
            tuple(self.calls),
            tuple(self.epochs),
            tuple(self.blobs),
            self.session,
            prompt=self.prompt,
        )

    def then(self, later: Unsaved) -> Unsaved:
        """This and what came after it, when a step could not be stored."""
        return Unsaved(
            self.messages + later.messages,
            self.fragments + later.fragments,
            self.calls + later.calls,
            self.epochs + later.epochs,
            self.blobs + later.blobs,
            later.session or self.session,
            later.prompt or self.prompt,
        )
