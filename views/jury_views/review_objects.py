"""Reviews and assignments of people as plain data, snake_case, ready for JSON."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jury_events.codec import decode_review
from jury_events.debate_history import DebateHistory
from jury_events.review_events import ReviewAssigned
from jury_events.review_facts import AssignedReview, Review, ReviewFacts
from jury_events.text import moment
from jury_views.result_facts import ReviewOfResult

Reasons = Mapping[int, str | None]
"""The reasons of reviews and withdrawals by the number of their event; None: it was erased."""

NO_REASONS: Reasons = MappingProxyType({})


def review_object(review: Review, reason: str | None = None) -> dict[str, Any]:
    """A review; `reason` is null where there is none, where it was erased, and where it was not read."""
    return {**review._asdict(), "reviewed_at": moment(review.reviewed_at), "reason": reason}


def assignment_object(assignment: AssignedReview) -> dict[str, Any]:
    """An assignment, without what it was drawn from: the jury's verdict, which a blind reviewer must not see."""
    return {name: getattr(assignment, name) for name in ("number", "reviewer", "sampled", "foreign")}


def review_objects(facts: ReviewFacts, reasons: Reasons = NO_REASONS) -> list[ReviewOfResult]:
    """The reviews that were not withdrawn, in the order of their numbers; `stands`: the reviewer's last one."""
    standing = facts.standing
    return [
        ReviewOfResult(**review_object(one, reasons.get(one.number)), stands=one in standing)  # type: ignore[typeddict-item]
        for one in facts.reviews
    ]


def reasons_in(history: DebateHistory) -> dict[int, str | None]:
    """The reasons in a debate's reviews; None: it was erased.

    Raises:
        EventError: an event does not decode.
    """
    found: dict[int, str | None] = {}
    for stored in history.stored_reviews:
        event = decode_review(stored)
        if isinstance(event, ReviewAssigned) or event.reason is None:
            continue
        text = history.texts.get(event.reason.part)
        if text is not None:
            found[event.number] = text.decode("utf-8")
        elif event.reason.part in history.erased:
            found[event.number] = None
    return found
