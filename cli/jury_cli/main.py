"""The entry point: which commands there are, and how errors end them."""

import errno
import logging
import os
import sys
import traceback
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from jury_cli.completion import VARIABLE, command_names, complete_files
from jury_cli.exits import Exit, code_of
from jury_cli.option_groups import CommandContext
from jury_cli.signals import raising
from jury_cli.streams import lines_as_configured, note, outlive_readers
from jury_events.errors import JuryError, SettingError, error_text
from jury_events.nearest import did_you_mean
from jury_events.scrubbing import known_scrubber
from jury_events.text import visible_line
from jury_judge.log_lines import has_lines

_OF_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}

_MESSAGE = 4000
"""The maximum length of an error line, in characters."""

COMMANDS = {
    "demo": "Run one debate over a bundled case, with simulated jurors.",
    "run": "Judge the cases of files.",
    "resume": "Go on with a run, from its store alone.",
    "cases": "Show what jurors would be shown of the cases of files.",
    "list": "List the debates of a store.",
    "show": "Show one debate: the verdict, why, and how the seats voted.",
    "review": "Give a person's verdict on debates, on record.",
    "runs": "List the runs of a store, and who executes them.",
    "watch": "Follow a run, or debates, live in the terminal.",
    "cancel": "End the debates of a run for good.",
    "serve": "Serve pages, the HTTP interface and live events.",
    "mcp": "Serve the store to agents and editors, by MCP.",
    "compare": "Put two debates, or two runs, side by side.",
    "votes": "Read votes of other judges, for the statistics.",
    "stats": "Say what votes are worth: do seats agree, and are they right?",
    "calibrate": "Find from which agreement on a verdict may stand.",
    "value": "Say what seats and rounds are worth, and what fewer would cost.",
    "probe": "Judge twins of cases: do order, length or tricks matter?",
    "drift": "Find out whether the judge has changed.",
    "gate": "Decide whether a run, or a panel, is worse than another.",
    "fork": "Branch a debate at an event and go on live.",
    "verify": "Check that no record was altered.",
    "seal": "Seal the log with a signed root, and prove what is in it.",
    "replay": "Show that verdicts follow from what the models said.",
    "rescore": "Compute recorded debates' results under other settings.",
    "regress": "Replay recorded debates under today's rules.",
    "export": "Write debates as cassettes, pages or tables.",
    "import": "Take debates from cassettes into a store.",
    "erase": "Erase the texts of a debate, an exchange or a case.",
    "panel": "Print a panel file to start one's own from, or check one.",
    "simulate": "Serve simulated models over HTTP, to rehearse without a key.",
    "db": "Create, upgrade and check the store's schema.",
    "doctor": "Check what is installed, reachable and configured.",
    "completion": "Print the script that completes commands in a shell.",
}
"""A command's module is imported when it is called, so that help is quick."""

_COMMAND_PLACES = {
    "import": "import_:command",
    "resume": "run:resume",
    "cancel": "runs:cancel",
    "watch": "runs:watch",
    **{name: f"stats:{name}" for name in ("votes", "gate", "calibrate", "value")},
    "mcp": "serve:mcp",
    "simulate": "serve:simulate",
    "regress": "replay:regress",
}
"""The module of a command and its name in it; that of the others is `command` in a module of their own name."""

_FIRST = ("demo", "run", "list", "show", "serve", "doctor")
"""Described in the help of `jury`; the others are named in groups, so that it fits a screen of 24 lines."""

_GROUPS = {
    "cases": ("cases", "panel"),
    "runs": ("runs", "resume", "watch", "cancel"),
    "read": ("compare", "export", "mcp"),
    "people": ("review",),
    "statistics": ("stats", "votes", "gate", "calibrate", "value", "probe", "drift"),
    "audit": ("verify", "replay", "rescore", "regress", "fork", "seal", "import", "erase"),
    "operate": ("db", "simulate", "completion"),
}


class _SystemRefused(Exception):
    """Carries an OSError past click."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class _Interrupted(Exception):
    """Carries a KeyboardInterrupt past click, which would print an empty line."""


class Commands(click.Group):
    """Subcommands by name, loaded when they are called."""

    context_class = CommandContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, name = _COMMAND_PLACES.get(cmd_name, f"{cmd_name}:command").split(":")
        command: click.Command = getattr(import_module(f"jury_cli.{module}"), name)
        _prepare(command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without loading any, and the options of the command itself."""
        return [*command_names(COMMANDS, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; click itself does not know the names of commands that are not loaded."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; click must not see an OSError: it would exit with its own code."""
        try:
            with raising():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None
        except OSError as error:
            raise _SystemRefused(error) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each of the first ones, and for each group of the others; none is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in _FIRST])
        with formatter.section("More, by subject (jury COMMAND --help)"):
            formatter.write_dl([(subject, ", ".join(names)) for subject, names in _GROUPS.items()])


def _prepare(command: click.Command) -> None:
    """Give a command, or each command of a group, its context, and completion of files."""
    command.context_class = CommandContext
    if VARIABLE in os.environ:
        complete_files(command)
    if isinstance(command, click.Group):
        for one in command.commands.values():
            _prepare(one)


jury = click.version_option(package_name="jury-judge", prog_name="jury")(
    Commands(
        "jury",
        context_settings={"help_option_names": ["-h", "--help"]},
        help="A jury of LLM jurors judges what an AI agent did; every answer is recorded.",
    )
)


def main() -> None:
    """Run the command line; every error is one line with the remedy."""
    outlive_readers()
    try:
        with lines_as_configured():
            code = _flushed(_run())
    except SettingError as error:  # of the lines' own settings
        _say(f"jury: {error}")
        code = Exit.USAGE
    sys.exit(int(code))


def _flushed(code: Exit) -> Exit:
    try:
        if sys.stdout is not None:  # it is None where the caller closed it
            sys.stdout.flush()
    except OSError as error:
        code = code or _refused_by_system(error)
        # What could not be printed is dropped here; else the interpreter complains about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _run() -> Exit:
    try:
        return Exit(jury.main(standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "jury"
        _say(f"{path}: {error.format_message().rstrip('.')}; see {path} --help")
        return Exit.USAGE
    except (click.Abort, _Interrupted):
        _say("jury: interrupted")
        return Exit.INTERRUPTED
    except _SystemRefused as refused:
        return _refused_by_system(refused.error)
    except OSError as error:  # of help and of the version, which click prints before it calls a command
        return _refused_by_system(error)
    except JuryError as error:
        _say(f"jury: {error}", error)
        return code_of(error)
    except Exception as error:  # noqa: BLE001  (a defect must not pass for a verdict that --fail-on names)
        if os.environ.get("JURY_TRACEBACK") and not has_lines():
            click.echo(known_scrubber().text(traceback.format_exc()), err=True, nl=False)
        _say(f"jury: {type(error).__name__}: {error} (a defect; JURY_TRACEBACK=1 shows where)", error)
        return Exit.STOPPED


def _refused_by_system(error: OSError) -> Exit:
    """An operation that the system refuses, as on a full disk."""
    said = error.strerror or str(error) or "no reason given"
    if error.filename is not None:
        place = str(error.filename)
    else:
        # Writing names no file; other errors without one, as of connections, have nothing to do with the output.
        place = "the output cannot be written" if error.errno in _OF_WRITING else type(error).__name__
    _say(f"jury: {place}: {said}; mend that and call the same command again")
    return Exit.STOPPED


def _say(text: str, error: BaseException | None = None) -> None:
    """One safe line; as JSON without what other packages' errors say, but with the place of a defect."""
    if not has_lines():
        click.echo(visible_line(known_scrubber().text(text), _MESSAGE), err=True)
        return
    note(
        text,
        "error",
        logging.ERROR,
        brief=None if error is None else error_text(error),
        exc_info=None if isinstance(error, JuryError) else error,
    )
