"""Exit codes of the command."""

from enum import IntEnum

from jury_events.errors import Failure, JuryError


class Exit(IntEnum):
    """The exit codes; `docs/exit-codes.md` lists those of each command.

    NO_VERDICT: everything is done, but a debate ended without a quorum or a verdict; the same command again changes
    nothing. STOPPED: something is left to do, and the same command again goes on with it. INCONCLUSIVE: the data that
    there is cannot support what was asked for.
    """

    DONE = 0
    FAILED_ON = 1
    USAGE = 2
    NO_VERDICT = 3
    STOPPED = 4
    INTEGRITY = 5
    INCONCLUSIVE = 6
    INTERRUPTED = 130


_CODES = dict.fromkeys(Failure, Exit.USAGE) | {Failure.STOPPED: Exit.STOPPED, Failure.ALTERED: Exit.INTEGRITY}


def code_of(error: JuryError) -> Exit:
    """The exit code for an error."""
    return _CODES[error.failure]
