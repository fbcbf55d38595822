"""Exit codes, and the errors of the command that have one of their own."""

from enum import IntEnum

from jury_events.errors import Failure, InputError, JuryError


class OutputClosed(InputError):
    """The reader of the results is gone before the work is done; the message has the way to resume."""

    failure = Failure.STOPPED


class Exit(IntEnum):
    """The exit codes; `docs/reference/exit-codes.md` lists those of each command."""

    DONE = 0
    """Done."""
    FAILED_ON = 1
    """Found what was asked for: a regression, a flip, harm, what `--fail-on` or `--fail-if` names."""
    USAGE = 2
    """The command cannot run: an option, a file, an id, a key that is not set. Mend it; no model was called."""
    NO_VERDICT = 3
    """Everything is done, but a debate ended without a quorum of jurors or without a verdict, or a seat has a vote of
    its own in no debate. The debates are named; the same command again changes nothing."""
    STOPPED = 4
    """Stopped: a provider, a quota, a budget, a disk; debates are left, or rows that cannot be read. Mend the cause;
    the same command with the same `--run` goes on."""
    INTEGRITY = 5
    """A record was altered, or does not follow from what the models said. What is wrong is named."""
    INCONCLUSIVE = 6
    """The data that there is cannot support what was asked for. The labels or cases that it would take are printed."""
    INTERRUPTED = 130
    """Interrupted; the same command goes on."""


_CODES = dict.fromkeys(Failure, Exit.USAGE) | {Failure.STOPPED: Exit.STOPPED, Failure.ALTERED: Exit.INTEGRITY}


def code_of(error: JuryError) -> Exit:
    """The exit code for an error."""
    return _CODES[error.failure]
