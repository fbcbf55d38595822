"""People's reviews of debates: recorded, assigned, withdrawn, read, in an open store.

`review_queue` says what is to be reviewed; `ReviewRecorder` records where another process may be writing.
"""

from jury_events.review_events import ReviewSample
from jury_events.review_facts import AssignedReview, Review, ReviewFacts
from jury_judge.reviews.review_changes import (
    Clock,
    NewReview,
    assignment_change,
    microseconds_now,
    record_changes,
    recorded_assignment,
    recorded_review,
    verdict_change,
    withdrawal_change,
)
from jury_replay.intact import intact_history
from jury_store.event_store import EventStore
from jury_views.evaluation_models import reasons_in


def reviews_of(store: EventStore, debate_id: str) -> ReviewFacts:
    """The reviews and assignments of a debate."""
    return intact_history(store, debate_id).reviews


def reasons_of(store: EventStore, debate_id: str) -> dict[int, str | None]:
    """The reasons of reviews and withdrawals by the number of their event; None: it was erased."""
    return reasons_in(intact_history(store, debate_id))


def record_review(store: EventStore, debate_id: str, new: NewReview, *, clock: Clock = microseconds_now) -> Review:
    """Record a person's verdict. The same verdict, reason and decisive item of the same person again is no new review.

    Whether the debate was drawn at random for this person follows from its assignments.

    Args:
        store: open for writing.
        debate_id: of a debate that has ended.
        new: what the reviewer says.
        clock: microseconds since 1970-01-01 UTC.
    """
    (found,) = record_changes(store, [verdict_change(debate_id, new)], clock)
    return recorded_review(found)


def assign_review(
    store: EventStore,
    debate_id: str,
    reviewer: str,
    *,
    by: str,
    sample: ReviewSample | None = None,
    clock: Clock = microseconds_now,
) -> AssignedReview:
    """Ask a person for a review. An assignment of that person that is there already stays, drawn or chosen.

    Args:
        store: open for writing.
        debate_id: of any debate.
        reviewer: who is asked.
        by: who asks.
        sample: the random sample that the debate was drawn in; None: it was chosen.
        clock: microseconds since 1970-01-01 UTC.
    """
    change = assignment_change(debate_id, reviewer, by=by, sample=sample)
    (found,) = record_changes(store, [change], clock)
    return recorded_assignment(found)


def withdraw_review(
    store: EventStore, debate_id: str, number: int, *, by: str, reason: str = "", clock: Clock = microseconds_now
) -> None:
    """Withdraw a review or an assignment: it counts no more, and stays in the log.

    Args:
        store: open for writing.
        debate_id: of the debate.
        number: of the review or assignment.
        by: who withdraws it.
        reason: why; "": not said.
        clock: microseconds since 1970-01-01 UTC.
    """
    record_changes(store, [withdrawal_change(debate_id, number, by=by, reason=reason)], clock)
