"""Reviews as plain data, and what a reviewer can say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from jury_events.codec import decode_review
from jury_events.debate_history import DebateHistory
from jury_events.review_events import ReviewAssigned
from jury_events.review_facts import AssignedReview, Review, ReviewFacts
from jury_events.text import moment
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_events.verdict_scale import MOST_LABELS, VerdictScale
from jury_views.evaluation_models import ReviewOfResult

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
    """The reasons in a debate's reviews; None: it was erased."""
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


_VERDICT_KEYS = {PASS: "p", REVIEW: "n", FAIL: "f"}
_DIGITS = "123456789"
# Without the keys that do something else in the terminal or on the page.
_KEYS = (_DIGITS + "abceghilmtu")[:MOST_LABELS]


class ReviewChoice(NamedTuple):
    """One of them. `verdict` is the outcome of the label; label and meaning are None under the three verdicts."""

    key: str
    verdict: Verdict
    label: str | None = None
    meaning: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value


def review_choices(scale: VerdictScale | None) -> tuple[ReviewChoice, ...]:
    """The choices, the best first. The key of a level below ten is its number, of other labels their place."""
    if scale is None:
        return tuple(ReviewChoice(key, verdict) for verdict, key in _VERDICT_KEYS.items())
    best_first = scale.labels[::-1]
    keys = [one.id for one in best_first] if all(one.id in _DIGITS for one in best_first) else _KEYS
    return tuple(
        ReviewChoice(key, one.verdict, one.id, one.meaning) for key, one in zip(keys, best_first, strict=False)
    )
