"""The server of a model file: found where it runs, started where it does not, replaced where it fails.

One for each home and model file. Its folder in the home holds `server.json` (where it is, and its key, for
the owner alone), the locks `starting` and `serving`, and `states/`; its log is `logs/local.log` of the home.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version

from hermes.errors import FileRefused, ModelError
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import digest_of
from hermes.providers.http1 import HttpFailure, Pool
from hermes.providers.local.gguf import gguf_template
from hermes.providers.local.lock import is_held, locked

START_SECONDS = 120.0
POLL_SECONDS = 0.03
MAX_LOG_BYTES = 1_000_000


@frozen
class Settings:
    """What a server is started with. `ram_mb` is for prompts of other sessions, beside the newest one.

    A server that has not answered for `patience` seconds hangs; reading a prompt does not keep it from that.
    """

    model: str
    window: int
    idle_seconds: float = 900.0
    ram_mb: int = 256
    patience: float = 10.0


@frozen
class Address:
    """Where a server is. `url` has no path; `key` is known to the owner of the home alone."""

    url: str
    key: str
    pid: int
    began: float

    def __repr__(self) -> str:
        return f"Address({self.url!r}, pid={self.pid})"


class Engine:
    """The server of one model file, for any number of processes."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self.settings = settings
        self.log = home.path("logs", "local.log")
        self.identity = _identity(settings)
        self.folder = home.path("cache", "local", self.identity[:16])

    def __repr__(self) -> str:
        return f"Engine({self.settings.model!r})"

    async def address(self) -> Address:
        """Where it is, started if need be. ModelError when it does not start."""
        self._make_folders()
        if found := await self.found():
            return found
        async with locked(self._path("starting")):
            if found := await self.found():  # someone else was first
                return found
            await self._end()
            return await self._start()

    async def found(self) -> Address | None:
        """Where it is, when it is there and well; it will stay for a while from now on."""
        if not self.is_running():
            return None
        address = self.known()
        if address is None:
            return None
        try:
            os.utime(self._path("server.json"))
        except OSError:
            return None
        return address if await _is_well(address, self.settings.patience) else None

    def is_running(self) -> bool:
        """Whether a process serves, well or not."""
        return os.path.isdir(self.folder) and is_held(self._path("serving"))

    def known(self) -> Address | None:
        """What its file says, true or not."""
        try:
            body = json.loads(read_file(self._path("server.json")).data)
            return Address(str(body["url"]), str(body["key"]), int(body["pid"]), float(body["began"]))
        except (FileRefused, ValueError, KeyError, TypeError):
            return None

    async def stop(self) -> bool:
        """End it; False when it was not there."""
        if not os.path.isdir(self.folder):
            return False
        async with locked(self._path("starting")):
            return await self._end()

    async def _end(self) -> bool:
        """End the process that holds the place, if one does; what it left behind goes too."""
        there = is_held(self._path("serving"))
        address = self.known()
        if there and address:
            for how in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
                try:
                    os.kill(address.pid, how)
                except OSError:
                    break
                if await self._gone():
                    break
        if os.path.exists(self._path("server.json")):
            os.unlink(self._path("server.json"))
        return there

    async def _gone(self) -> bool:
        until = time.monotonic() + self.settings.patience
        while is_held(self._path("serving")):
            if time.monotonic() > until:
                return False
            await asyncio.sleep(POLL_SECONDS)
        return True

    async def _start(self) -> Address:
        given = {
            "model": self.settings.model,
            "window": self.settings.window,
            "idle_seconds": self.settings.idle_seconds,
            "ram_mb": self.settings.ram_mb,
            "template": template_for(self.settings.model),
            "folder": self.folder,
            "key": secrets.token_urlsafe(24),
        }
        await asyncio.to_thread(self._spawn, json.dumps(given).encode())
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            address = self.known()
            if address and await _is_well(address, self.settings.patience):
                return address
            if not is_held(self._path("serving")):
                raise ModelError(f"the local model did not start: {self._last_words()} (log: {self.log})")
            await asyncio.sleep(POLL_SECONDS)
        raise ModelError(f"the local model did not start in {START_SECONDS:.0f} s (log: {self.log})")

    def _spawn(self, given: bytes) -> None:
        """Start the process, which goes into the background by itself once it holds its lock."""
        if os.path.exists(self.log) and os.path.getsize(self.log) > MAX_LOG_BYTES:
            os.replace(self.log, f"{self.log}.1")
        fd = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # -P: no folder that happens to be the current one lends its modules.
        command = [sys.executable, "-P", "-m", "hermes.providers.local.serve"]
        with os.fdopen(fd, "wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        if hasattr(os, "fork"):
            process.wait()

    def _last_words(self) -> str:
        """The last line of the log that tells anything."""
        try:
            with open(self.log, "rb") as file:
                file.seek(max(0, os.path.getsize(self.log) - 4096))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return "it left no log"
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def _make_folders(self) -> None:
        try:
            for folder in (self._path("states"), os.path.dirname(self.log)):
                os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            text = (
                f"the local model needs a folder in the home, and {error.filename} cannot be made: {reason}"
            )
            raise ModelError(text) from None

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def template_for(model: str) -> str:
    """Our chat template, where the model's own would keep tools from it; "" for its own."""
    own = gguf_template(model)
    if "tools" in own or (own and "<|im_start|>" not in own):
        return ""
    path = os.path.join(os.path.dirname(__file__), "chat_template.jinja")
    return read_file(path).data.decode("utf-8")


async def _is_well(address: Address, patience: float) -> bool:
    pool = Pool(address.url, patience, lambda _: "")
    try:
        async with asyncio.timeout(patience):
            response = await pool.send("GET", "health", {})
            await response.whole(4096)
            return response.status == 200
    except (HttpFailure, TimeoutError):
        return False
    finally:
        await pool.close()


def _identity(settings: Settings) -> str:
    """A digest of all that a server, and what it keeps, depends on."""
    try:
        status = os.stat(settings.model)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ModelError(f"the model file {settings.model} cannot be read: {reason}") from None
    try:
        engine = version("xllamacpp")
    except PackageNotFoundError:
        engine = ""
    told = (os.path.realpath(settings.model), status.st_size, status.st_mtime_ns, settings.window, engine)
    return digest_of(json.dumps(told))
