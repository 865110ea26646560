"""The server of one model file: a process of its own that ends when nobody has asked it for a while.

Started by `engine.py`, which writes its settings to standard input. It holds the lock `serving` for as
long as it lives, so that nobody takes a file it left behind for a server that is there.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from hermes.files import replace_file
from hermes.providers.local.lock import open_lock, try_lock

LOCK_SECONDS = 5.0
POLL_SECONDS = 5.0
BATCH = 256
"""Tokens of a prompt that are read at once, and told of."""


def main() -> int:
    settings = json.load(sys.stdin)
    os.chdir(settings["folder"])
    if not _holds("serving"):
        return 1
    # In the background, and nobody's child: whoever started it may end.
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    return serve(settings)


def serve(settings: dict[str, Any]) -> int:
    # A thread that spins while it waits takes the core from the one that it waits for.
    os.putenv("GOMP_SPINCOUNT", "0")
    os.putenv("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    server = xllamacpp.Server(_params(settings, xllamacpp.CommonParams()))
    address = server.listening_address
    state = {"pid": os.getpid(), "url": address, "key": settings["key"], "began": time.time()}
    replace_file("held", b"", lasting=False)
    replace_file("server.json", json.dumps(state).encode(), lasting=False)
    _log(f"serving {settings['model']} at {address}")
    reason = _wait(state, settings["idle_seconds"])
    _log(f"ended: {reason}")
    os._exit(0)  # nothing is left to tidy up, and the engine takes its time for it


def _log(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
    sys.stdout.flush()


def _params(settings: dict[str, Any], params: Any) -> Any:
    params.model.path = settings["model"]
    params.n_ctx = settings["window"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cache_ram_mib = settings["ram_mb"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.ui = False
    params.slot_save_path = os.path.join(settings["folder"], "states", "")
    params.verbosity = 1
    cores = os.cpu_count() or 1
    params.cpuparams.n_threads = max(1, cores // 2)
    params.cpuparams_batch.n_threads = cores
    params.use_jinja = True
    params.sampling.temp = 0.3
    params.sampling.top_p = 0.9
    params.sampling.penalty_repeat = 1.1  # small models go in circles
    params.sampling.dry_multiplier = 0.8
    if settings["template"]:
        params.chat_template = settings["template"]
    return params


def _holds(path: str) -> bool:
    """Take the lock for good; someone may be looking at it just now."""
    until, fd = time.monotonic() + LOCK_SECONDS, open_lock(path)
    while not try_lock(fd):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _wait(state: dict[str, Any], idle_seconds: float) -> str:
    """Wait until it is time to end; why it is."""
    pause = threading.Event()
    while True:
        pause.wait(min(POLL_SECONDS, idle_seconds / 4))
        try:
            with open("server.json", encoding="utf-8") as file:
                current = json.load(file)
            asked = os.stat("server.json").st_mtime
        except (OSError, ValueError):
            return "its folder is gone"
        if current["pid"] != state["pid"]:
            return "another server took its place"
        if time.time() - asked > idle_seconds and not _busy(state) and _closed(idle_seconds):
            return "nobody asked"


def _closed(idle_seconds: float) -> bool:
    """Give up the place, unless someone has come just now."""
    fd = open_lock("starting")
    try:
        if not try_lock(fd) or time.time() - os.stat("server.json").st_mtime <= idle_seconds:
            return False
        os.unlink("server.json")
        return True
    finally:
        os.close(fd)


def _busy(state: dict[str, Any]) -> bool:
    """Whether an answer is under way."""
    headers = {"authorization": f"Bearer {state['key']}"}
    request = urllib.request.Request(f"{state['url']}/slots", headers=headers)  # noqa: S310 - our own
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=5) as answer:
            return any(slot["is_processing"] for slot in json.load(answer))
    except (urllib.error.URLError, OSError, ValueError, KeyError):
        return False


if __name__ == "__main__":
    sys.exit(main())
