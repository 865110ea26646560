"""Checks of the model that answers: is one set, is there a key, can the engine run?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hermes.errors import ConfigError, ModelError
from hermes.inspect.doctor.records import Patient, Problem


def model(patient: Patient) -> Iterator[Problem]:
    """Which one answers, and does it have its key?"""
    from hermes.providers.keys import find_key
    from hermes.providers.offers import offers
    from hermes.providers.resolve import resolve

    config, home = patient.sources.config, patient.sources.home
    try:
        endpoint, profile = resolve("", config, home)
    except ConfigError as error:
        yield Problem("warning", str(error).partition(" Three ways")[0], "hermes setup")
        return
    chosen = "" if config.model.default else "; none is set"
    yield Problem("info", f"{profile.name} of {endpoint.name}{chosen}")
    try:
        find_key(endpoint)
    except ModelError as error:
        yield Problem(
            "warning", str(error).partition(";")[0], f"put it into {endpoint.keys[0]}, or: hermes setup"
        )
    if not config.model.default:
        for offer in offers(config):
            yield Problem("info", f"{offer.variable} is set: hermes models use {offer.name}")


def engine(patient: Patient) -> Iterator[Problem]:
    """Can the model on this machine run, and does what holds its place answer?"""
    from hermes.providers.local.weights import EMBEDDED, embedded_weights, engine_is_here, find_weights

    config, home = patient.sources.config, patient.sources.home
    path = embedded_weights(home, config.local.model_path)
    if not engine_is_here():
        yield Problem("info", "not installed; pip install 'hermes-lucid[local]' brings it")
        return
    if not path:
        yield Problem("info", "installed, without weights; hermes models fetch brings them")
        return
    if not os.path.isfile(path):
        yield Problem("warning", f"there is no model file {path}", "correct local.model_path of config.yaml")
        return
    from hermes.providers.local.model import local_engine
    from hermes.providers.local.weights import local_profile

    try:
        profile = local_profile(find_weights(EMBEDDED, config, home), config)
    except ConfigError as error:
        yield Problem("warning", str(error), "correct local.model_path of config.yaml")
        return
    found = local_engine(path, config, home, profile)
    address = found.known() if found.is_running() else None
    yield Problem("info", f"{path}; " + (f"running, process {address.pid}" if address else "not running"))
