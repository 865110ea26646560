"""The table of commands. A command's module is imported when the command is called."""

from __future__ import annotations

import errno
import io
import os
import sys

import click

from hermes.bulkhead import behind_bulkhead
from hermes.cli.lazy import LazyGroup
from hermes.cli.log import log_to_home
from hermes.cli.screen import plain_lines, show_notices
from hermes.errors import HermesError, UsageError
from hermes.paths import get_hermes_home, home_problem
from hermes.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("hermes.cli.chat:command", "Talk with the agent, or ask it one thing."),
    "cache": ("hermes.cli.cache:group", "What came from the prompt cache, what did not, and why."),
    "memory": ("hermes.cli.memory:group", "See and change what is remembered between sessions."),
    "local": ("hermes.cli.local:group", "The engine of the model on this machine."),
    "setup": ("hermes.cli.setup:command", "Choose a model, step by step."),
    "mcp": ("hermes.cli.mcp:group", "MCP servers, and whether they answer."),
    "models": ("hermes.cli.models:group", "Models that can be used, and what is known of them."),
    "sessions": ("hermes.cli.sessions:group", "List, search, move and replay conversations."),
    "completion": ("hermes.cli.completion:command", "Teach your shell to complete hermes."),
    "config": ("hermes.cli.config:group", "Show, check and change config.yaml."),
    "doctor": ("hermes.cli.doctor:command", "Look for problems and say how to mend them."),
    "plugins": ("hermes.cli.plugins:group", "Plugins, and what each brings."),
    "prompt": ("hermes.cli.prompt:group", "See the system prompt and explain every byte of it."),
    "scan": ("hermes.cli.scan:command", "Look for prompt injection in files and folders."),
    "skills": ("hermes.cli.skills:group", "See, install and manage skills."),
    "trust": ("hermes.cli.trust:group", "Accept a file that the scanner stopped, by its content."),
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings=CONTEXT, no_args_is_help=True)
@click.version_option(__version__, "-V", "--version", message="hermes %(version)s")
def hermes() -> None:
    """The agent whose prompt you can see, trust and afford."""


def run(arguments: list[str], root: click.Group = hermes) -> int:
    """Run a command; every failure ends in one line that says what to do, never in a traceback."""
    log_to_home()
    code, notices = behind_bulkhead("hermes", lambda: _run(arguments, root), 70)
    show_notices(notices)
    return code


def _run(arguments: list[str], root: click.Group) -> int:
    try:
        _refuse_no_home(arguments)
        result = root.main(arguments, "hermes", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _shown(error)
    except click.Abort:
        click.echo("Stopped.", err=True)
        return 130
    except HermesError as error:
        return _failed(str(error), 2 if isinstance(error, UsageError) else 1)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        drop_output()
        return _failed(f"{error.strerror}: free some, then try again", 1)
    return result if isinstance(result, int) else 0


def _refuse_no_home(arguments: list[str]) -> None:
    """What no command can do without is looked at once, here; the doctor tells more of it."""
    if arguments[:1] in (["doctor"], ["completion"]) or {"-h", "--help"} & set(arguments):
        return
    if problem := home_problem(get_hermes_home()):
        raise HermesError(problem)


def _shown(error: click.ClickException) -> int:
    """As click shows it, with what was probably meant; the exit code."""
    meant = error
    if isinstance(error, click.NoSuchCommand | click.NoSuchOption):
        from hermes.cli.meant import told

        meant = click.UsageError(told(error), error.ctx)
    said = io.StringIO()
    meant.show(said)
    click.echo(plain_lines(said.getvalue()), nl=False, err=True)
    return error.exit_code


def drop_output() -> None:
    """Give up what could not be written, or the interpreter would try once more at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _failed(text: str, code: int) -> int:
    click.echo(f"Error: {plain_lines(text)}", err=True)
    return code
