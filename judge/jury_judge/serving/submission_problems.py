"""What becomes of a submission that a problem stopped: by the type of the error, here alone."""

from enum import Enum

from jury_cases.errors import CaseFileError
from jury_judge.errors import OtherCase, RunUnfinished, SubmissionTaken
from jury_store.errors import Fenced, StoreFailed, StoreLocked, StoreUnreachable, WrongVersion


class Outcome(Enum):
    """What follows a problem.

    WAITING: another process is at work; this server tries again once that has ended. STORE_AWAY: the store fails; a
    client that still waits for the answer gets the error, and this server tries again from time to time. STOPPED:
    something around the submission must be mended (a key, a budget, the panel); it stays kept, for the next server or
    the same request. REFUSED: it can never be judged as it is, so it is not kept longer.
    """

    WAITING = "waiting"
    STORE_AWAY = "store away"
    STOPPED = "stopped"
    REFUSED = "refused"


_BY_TYPE: tuple[tuple[Outcome, tuple[type[BaseException], ...]], ...] = (
    (Outcome.WAITING, (StoreLocked, SubmissionTaken, Fenced, WrongVersion)),
    (Outcome.STORE_AWAY, (StoreUnreachable, StoreFailed)),
    (Outcome.REFUSED, (CaseFileError, OtherCase)),
)
"""All other errors stop: whatever is not known to be the submission's own fault may be mended."""

_STRONGEST = (Outcome.STOPPED, Outcome.STORE_AWAY, Outcome.WAITING, Outcome.REFUSED)


def outcome_of(problem: BaseException) -> Outcome:
    """What follows a problem; of a run whose debates have several, what asks most for a person."""
    if isinstance(problem, RunUnfinished):
        found = {outcome_of(one) for one in problem.problems.values()}
        return next((outcome for outcome in _STRONGEST if outcome in found), Outcome.STOPPED)
    return next((outcome for outcome, types in _BY_TYPE if isinstance(problem, types)), Outcome.STOPPED)
