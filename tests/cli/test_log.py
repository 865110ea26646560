"""A failure of Hermes itself is told in a line; the traceback is in the log of the home."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hermes.cli import app, log


@pytest.fixture
def quiet_logger() -> Iterator[None]:
    logger = logging.getLogger("hermes")
    handlers, propagate = list(logger.handlers), logger.propagate
    logger.handlers.clear()
    yield
    logger.handlers[:] = handlers
    logger.propagate = propagate


@pytest.mark.usefixtures("quiet_logger")
def test_a_bug_is_a_line_on_the_screen_and_a_traceback_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.group()
    def root() -> None: ...

    @root.command()
    def broken() -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    assert app.run(["broken"], root) == 70
    err = capsys.readouterr().err
    assert (
        err == "error: hermes failed and was left out (ZeroDivisionError: a bug); the log has the details\n"
    )
    written = (tmp_path / "home" / "logs" / "hermes.log").read_text()
    assert "Traceback (most recent call last)" in written
    assert written.rstrip().endswith("ZeroDivisionError: a bug")


@pytest.mark.usefixtures("quiet_logger")
def test_a_full_log_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    log.log_to_home()
    log.log_to_home()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "hermes.log").write_text("x" * (log.MAX_BYTES + 1))
    logging.getLogger("hermes").error("once")
    assert (tmp_path / "logs" / "hermes.log").read_text().endswith("ERROR hermes: once\n")
    assert (tmp_path / "logs" / "hermes.log.1").stat().st_size == log.MAX_BYTES + 1


@pytest.mark.usefixtures("quiet_logger")
def test_a_home_that_cannot_be_written_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "file"))
    log.log_to_home()
    logging.getLogger("hermes").error("nowhere")
