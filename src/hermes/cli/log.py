"""The log in the home: what a person is spared, and whoever mends it wants to read."""

from __future__ import annotations

import contextlib
import logging
import os

from hermes.paths import get_hermes_home

FILE = "hermes.log"
MAX_BYTES = 1_000_000


class HomeLog(logging.Handler):
    """Writes to `logs/hermes.log` of the home, a full one to `hermes.log.1`. Where it cannot, it lets be."""

    def emit(self, record: logging.LogRecord) -> None:
        from hermes.config.records import secrets  # only what goes wrong pays
        from hermes.security.secrets import hide_secrets

        folder = get_hermes_home().path("logs")
        path = os.path.join(folder, FILE)
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.path.exists(path) and os.path.getsize(path) > MAX_BYTES:
                os.replace(path, path + ".1")
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(fd, "a", encoding="utf-8", errors="replace") as file:
                file.write(hide_secrets(self.format(record), secrets())[0] + "\n")


def log_to_home() -> None:
    """Send what is logged to the home, and none of it to the screen."""
    logger = logging.getLogger("hermes")
    if not any(isinstance(handler, HomeLog) for handler in logger.handlers):
        handler = HomeLog()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
