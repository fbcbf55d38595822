"""The steps of a batch's life, and their errors.

No step that costs money rests on a time alone. Each follows from an answer of the provider that came after the last
thing that was done, and what is not there is missed twice, some time apart. How much time has passed is what the
monotonic clock of this process says, or what the provider's own clock and this machine's say both.
"""

from enum import StrEnum
from typing import Literal, NamedTuple

from jury_actors.errors import ActorError
from jury_events.batch_facts import BatchFacts
from jury_events.errors import Failure
from jury_providers.batches.provider import BatchState, BatchStatus, SubmittedBatch

_MICROSECONDS = 1_000_000
_HOUR = 3600.0


class BatchPatience(NamedTuple):
    """How long a batch is waited for.

    `deadline`: hours from its submission on, after which its provider is asked to end it. `arrival`: seconds for which
    a submission that is not listed may still be on its way, by the monotonic clock of one process. `again`: seconds
    between the two times that something has to be missed.
    """

    deadline: float = 26.0
    arrival: float = 300.0
    again: float = 60.0


PATIENCE = BatchPatience()


class BatchStep(StrEnum):
    """What is to be done.

    LIST and LOOK ask the provider: for its batches, where the batch has no id there, or for its state. ADOPT: one of
    those is this batch, or may be. NOT_SENT: the provider never had it. REQUEST_CANCEL is recorded, then SEND_CANCEL is
    done. COLLECT: read the results. MISS: record what is not there. SETTLE: it is not there again. WAIT: for another
    look.
    """

    LIST = "list"
    ADOPT = "adopt"
    NOT_SENT = "not_sent"
    LOOK = "look"
    REQUEST_CANCEL = "request_cancel"
    SEND_CANCEL = "send_cancel"
    COLLECT = "collect"
    MISS = "miss"
    SETTLE = "settle"
    WAIT = "wait"
    NOTHING = "nothing"


class Missing(NamedTuple):
    """What the provider does not have: `what` as in `BatchMissed`, and why it is said so, in one line."""

    what: Literal["batch", "results"]
    reason: str


class Look(NamedTuple):
    """What the provider said since the last thing that was done; one of the first three.

    Args:
        listed: the batches in its list that may be this one.
        time: of the provider's own clock, in microseconds since 1970-01-01 UTC; None: it did not say.
    """

    listed: tuple[SubmittedBatch, ...] | None = None
    state: BatchState | None = None
    missing: Missing | None = None
    time: int | None = None


class Watch(NamedTuple):
    """When this process first saw what it waits for, in seconds of its monotonic clock; None: it did not.

    Args:
        unlisted: that the batch is not in the provider's list.
    """

    seen: float | None = None
    unlisted: float | None = None
    missed: float | None = None


class Now(NamedTuple):
    """The time of a decision: of this machine's clock in microseconds since 1970-01-01 UTC, and monotonic seconds."""

    wall: int
    monotonic: float


def next_step(facts: BatchFacts, look: Look | None, watch: Watch, now: Now, patience: BatchPatience) -> BatchStep:
    """The next step of a batch of which nothing is under way in this process.

    Args:
        look: None where nothing was asked since the last thing that was done.
    """
    if facts.closed is not None:
        return BatchStep.NOTHING
    if facts.submitted is None:
        if look is None or look.listed is None:
            return BatchStep.LIST
        if adopted(facts, look) is not None:
            return BatchStep.ADOPT
        return BatchStep.NOT_SENT if _watched(watch.unlisted, now) >= patience.arrival else BatchStep.WAIT
    if look is None or (look.state is None and look.missing is None):
        return BatchStep.LOOK
    if look.missing is not None:
        if facts.missed is None or facts.missed.what != look.missing.what:
            return BatchStep.MISS
        since = _passed(watch.missed, facts.missed_at, facts.missed.at, now, look.time)
        return BatchStep.SETTLE if since >= patience.again else BatchStep.WAIT
    assert look.state is not None
    if look.state.status is BatchStatus.ENDED:
        return BatchStep.COLLECT
    return _going_on(facts, look, watch, now, patience)


def adopted(facts: BatchFacts, look: Look) -> SubmittedBatch | None:
    """The batch of the provider's list that is taken for this one, None: there is none.

    One that is certain; else the one that was created first: it is the nearest to the time of sending.
    """
    listed = [one for one in look.listed or () if one.batch_id not in facts.mistaken]
    certain = [one for one in listed if one.certain]
    if certain:
        return certain[0]
    listed.reverse()
    return min(
        listed, key=lambda one: (one.created_at is None, one.created_at and one.created_at.timestamp()), default=None
    )


def _going_on(facts: BatchFacts, look: Look, watch: Watch, now: Now, patience: BatchPatience) -> BatchStep:
    """Of a batch of which the provider says that it has not ended."""
    assert look.state is not None
    # What may be another's is not cancelled: its calls wait until the ids in its results are read.
    if facts.uncertain:
        return BatchStep.WAIT
    if facts.cancel_requested is None:
        created = look.state.created_at
        began = None if created is None else round(created.timestamp() * _MICROSECONDS)
        waited = _passed(watch.seen, facts.submitted_at, began, now, look.time)
        return BatchStep.REQUEST_CANCEL if waited >= patience.deadline * _HOUR else BatchStep.WAIT
    return BatchStep.SEND_CANCEL if facts.cancel_sent is None else BatchStep.WAIT


def _watched(mark: float | None, now: Now) -> float:
    return 0.0 if mark is None else now.monotonic - mark


def _passed(mark: float | None, wall: int, theirs: int | None, now: Now, their_time: int | None) -> float:
    """Seconds that have certainly passed: in this process, or, where the provider has a clock, by both clocks."""
    by_both = 0.0
    if theirs is not None and their_time is not None:
        by_both = min(now.wall - wall, their_time - theirs) / _MICROSECONDS
    return max(_watched(mark, now), by_both)


def stays(facts: BatchFacts, look: Look | None, patience: BatchPatience) -> bool:
    """Whether a pass that does not wait stays all the same, until something was missed for long enough.

    Else a run of such passes would never know: without a clock of the provider no two of them know how much time is
    between them, and a submission that is not listed is waited for by the clock of one process.
    """
    if look is None or facts.closed is not None:
        return False
    if facts.submitted is None:
        began = facts.prepared.provider_time
        return began is None or look.time is None or look.time - began >= patience.arrival * _MICROSECONDS
    return facts.missed is not None and (look.time is None or facts.missed.at is None)


def poll_gap(polls: int) -> float:
    """Seconds until the next poll after so many that brought nothing new: from one second to ten minutes."""
    return float(min(1.5 ** min(polls, 20), 600.0))


class OtherAccount(ActorError):
    """A batch was sent to another account or server than is set now; the message names the remedy."""

    failure = Failure.REFUSED
