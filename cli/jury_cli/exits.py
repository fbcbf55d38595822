"""Exit codes of the command."""

from enum import IntEnum

from jury_events.errors import EventError, JuryError


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


def code_of(error: JuryError) -> Exit:
    """The exit code for an error."""
    from jury_actors.errors import ClusterLost, ClusterNotStarted
    from jury_cli.errors import OutputClosed
    from jury_debate.errors import IllegalEvent
    from jury_judge.errors import AttestationFailed, JournalFailed
    from jury_replay.errors import CassetteDamaged, OtherDebate, RecordDamaged
    from jury_store.errors import SealRefused, StoreDamaged, StoreFailed, TextsRemain
    from jury_views.errors import ReportFailed

    altered = EventError | IllegalEvent | CassetteDamaged | OtherDebate | RecordDamaged | SealRefused | StoreDamaged
    if isinstance(error, altered):
        return Exit.INTEGRITY
    stopped = (
        StoreFailed
        | TextsRemain
        | OutputClosed
        | ReportFailed
        | JournalFailed
        | ClusterLost
        | ClusterNotStarted
        | AttestationFailed
    )
    if isinstance(error, stopped):
        return Exit.STOPPED
    return Exit.USAGE
