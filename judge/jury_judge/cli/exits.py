"""Exit codes of the command."""

from enum import IntEnum

from jury_events.errors import EventError, JuryError


class Exit(IntEnum):
    """0 done · 1 what `--fail-on` names · 2 usage · 4 stopped · 5 integrity · 130 interrupted."""

    DONE = 0
    FAILED_ON = 1
    USAGE = 2
    STOPPED = 4
    INTEGRITY = 5
    INTERRUPTED = 130


def code_of(error: JuryError) -> Exit:
    """How the command ends when `error` ends it."""
    from jury_actors.errors import ClusterLost, ClusterNotStarted
    from jury_debate.errors import IllegalEvent
    from jury_judge.errors import AttestationFailed, OutputClosed
    from jury_replay.errors import CassetteDamaged, OtherDebate, RecordDamaged
    from jury_store.errors import SealRefused, StoreDamaged, StoreFailed, TextsRemain

    altered = EventError | IllegalEvent | CassetteDamaged | OtherDebate | RecordDamaged | SealRefused | StoreDamaged
    if isinstance(error, altered):
        return Exit.INTEGRITY
    stopped = StoreFailed | TextsRemain | OutputClosed | ClusterLost | ClusterNotStarted | AttestationFailed
    if isinstance(error, stopped):
        return Exit.STOPPED
    return Exit.USAGE
