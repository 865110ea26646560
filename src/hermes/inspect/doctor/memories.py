"""Checks of what memory is written with: locks, left-overs, the log, room, secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hermes.errors import MemoryRefused
from hermes.inspect.doctor.records import Patient, Problem
from hermes.memory.lock import primitive
from hermes.memory.refusals import secret_in
from hermes.memory.scope import left_over, memory_files
from hermes.memory.store import MemoryStore

_FULL, _OVER = 85, 100  # percent


def stores(patient: Patient) -> Iterator[Problem]:
    """The owner's memories, each as its writers find it."""
    try:
        primitive()
    except MemoryRefused as error:
        yield Problem("error", str(error), "use a Python that has fcntl or msvcrt")
    sources, logs = patient.sources, set[str]()
    for file in memory_files(sources.config.memory, project=patient.project.root):
        store = MemoryStore(sources.home, file, sources.policies.of("memory_write"))
        if os.path.lexists(left_over(store.path)):
            text = f"{left_over(store.path)} was left by a writer that was killed"
            yield Problem("info", f"{text}; the next start clears it away")
        try:
            if store.log not in logs:
                store.records()
        except MemoryRefused as error:
            yield Problem("warning", str(error), f"mend or move {store.log}; without it nothing is written")
        logs.add(store.log)
        try:
            view = store.view()
        except MemoryRefused:
            continue  # the prompt has told what is wrong with the file
        if _FULL <= view.percent <= _OVER:
            text = f"{file.called} is {view.percent} % full"
            yield Problem("info", f"{text}: {view.usage}; hermes memory list shows what may go")
        for name, entry in zip(view.ids, view.entries, strict=True):
            if kind := secret_in(entry):
                text = f"entry {name} of {file.called} holds what looks like a secret ({kind})"
                yield Problem("warning", text, f"revoke it, then: hermes memory remove {name}")
