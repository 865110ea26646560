"""The prompt after a boundary: the frozen one where nothing in it changed, else with what changed."""

from __future__ import annotations

from hermes.prompt import Section, SystemPrompt

SESSION_LINE = "session line"


def renewed(frozen: SystemPrompt, current: SystemPrompt) -> SystemPrompt:
    """The frozen prompt itself when it says all that `current` does; else `current`, with every section that
    is the same taken from the frozen one.

    Asked is what the frozen prompt contains, not what was known when it was built: a session that was
    resumed may know more than its prompt. When the session began is not news.
    """
    before = {s.slot: s for s in frozen.sections}
    sections = tuple(_either(before.get(s.slot), s) for s in current.sections)
    if [s.text for s in sections if s.text] == [s.text for s in frozen.sections if s.text]:
        return frozen
    return SystemPrompt.of(sections, current.key)


def _either(before: Section | None, now: Section) -> Section:
    """The section as it was frozen while it is still true, or while nobody knows: what fails now is kept."""
    failed = not now.text and any(notice.level == "error" for notice in now.notices)
    return before if before is not None and (failed or _says(before) == _says(now)) else now


def _says(section: Section) -> str:
    """The text; of the session line without the time, which is that of the session's beginning."""
    return section.text.partition("\n")[2] if section.slot == SESSION_LINE else section.text
