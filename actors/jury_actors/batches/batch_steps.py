"""What is to be done next for a batch. Pure: from what is recorded, the time, and the bounds of patience."""

from enum import StrEnum
from typing import NamedTuple

from jury_events.batch_facts import BatchFacts

_SECOND = 1_000_000
_HOUR = 3600 * _SECOND


class BatchPatience(NamedTuple):
    """How long a batch is waited for, from its submission on.

    `deadline`: hours after which its provider is asked to end it. `abandon`: hours after which its calls are asked
    otherwise though the provider did not say that it has ended. `arrival`: seconds after its preparation in which a
    submission may still be on its way, so that its absence in the provider's list says nothing.
    """

    deadline: float = 26.0
    abandon: float = 48.0
    arrival: float = 300.0


PATIENCE = BatchPatience()


class BatchStep(StrEnum):
    """What is to be done."""

    LOOK_UP = "look_up"
    POLL = "poll"
    CANCEL = "cancel"
    ABANDON = "abandon"
    COLLECT = "collect"
    NOTHING = "nothing"


def next_step(facts: BatchFacts, now: int, patience: BatchPatience) -> BatchStep:
    """The next step of a batch of which nothing is under way in this process; `now` in microseconds.

    A clock that went back makes nothing due; one that leaped ahead at worst ends a batch early, whose calls are asked
    again only when the provider has ended it, or after `abandon`.
    """
    if facts.closed is not None:
        return BatchStep.NOTHING
    if facts.submitted is None:
        return BatchStep.LOOK_UP
    if facts.changed is not None and facts.changed.stage == "ended":
        return BatchStep.COLLECT
    waited = now - facts.submitted_at
    if facts.abandoned:
        return BatchStep.POLL
    if facts.cancel_requested is None and waited > patience.deadline * _HOUR:
        return BatchStep.CANCEL
    if facts.cancel_requested is not None and waited > patience.abandon * _HOUR:
        return BatchStep.ABANDON
    return BatchStep.POLL


def may_be_on_its_way(facts: BatchFacts, now: int, patience: BatchPatience) -> bool:
    """Whether a submission that the provider does not list may still arrive."""
    return 0 <= now - facts.prepared_at < patience.arrival * _SECOND


def poll_gap(polls: int) -> float:
    """Seconds until the next poll after so many that brought nothing new: from one second to ten minutes."""
    return float(min(1.5 ** min(polls, 20), 600.0))
