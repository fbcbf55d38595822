"""Reviews recorded at once in a store that is open for writing; and what is recorded of them."""

import time
from collections.abc import Callable
from typing import Any

from jury_events import Review, ReviewSample
from jury_judge import (
    NewLabel,
    NewReview,
    assignment_change,
    label_change,
    record_changes,
    recorded_assignment,
    recorded_review,
    verdict_change,
    withdrawal_change,
)
from jury_replay import intact_history
from jury_store import EventStore
from jury_views.evaluation_models import reasons_in

Clock = Callable[[], int]


def _now() -> int:
    return time.time_ns() // 1000


def reviews_of(store: EventStore, debate_id: str) -> Any:
    return intact_history(store, debate_id).reviews


def reasons_of(store: EventStore, debate_id: str) -> dict[int, str | None]:
    return reasons_in(intact_history(store, debate_id))


def record_review(store: EventStore, debate_id: str, new: NewReview, *, clock: Clock = _now) -> Review:
    (found,) = record_changes(store, [verdict_change(debate_id, new)], clock)
    return recorded_review(found)


def assign_review(
    store: EventStore,
    debate_id: str,
    reviewer: str,
    *,
    by: str,
    sample: ReviewSample | None = None,
    clock: Clock = _now,
) -> Any:
    (found,) = record_changes(store, [assignment_change(debate_id, reviewer, by=by, sample=sample)], clock)
    return recorded_assignment(found)


def withdraw_review(
    store: EventStore, debate_id: str, number: int, *, by: str, reason: str = "", clock: Clock = _now
) -> None:
    record_changes(store, [withdrawal_change(debate_id, number, by=by, reason=reason)], clock)


def record_label(store: EventStore, debate_id: str, new: NewLabel, *, by: str) -> None:
    record_changes(store, [label_change(debate_id, new, by=by)], _now)
