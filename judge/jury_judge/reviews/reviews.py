"""People's reviews of debates: recorded, assigned, withdrawn, read. `review_queue` says what is to be reviewed.

Every function reads the stream `review/{id}`, decides, and appends under the version that it read; where another
reviewer was faster, it reads and decides again. So nothing is lost where several write at the same time.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pydantic import ValidationError

from jury_events.codec import ReviewEvent, decode_review, encode
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound
from jury_events.ids import review_stream
from jury_events.parts import SALT_BYTES, Part, PartRef, make_part
from jury_events.review_events import HumanReviewed, ReviewAssigned, ReviewSample, ReviewWithdrawn
from jury_events.review_facts import NO_REVIEWS, AssignedReview, Review, ReviewFacts
from jury_events.text.validation import condensed
from jury_events.verdict import Verdict
from jury_judge.errors import ReasonRefused, ReviewRefused
from jury_judge.stores.writers import lend_writer
from jury_store.errors import EventConflict, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore
from jury_views.review_objects import reasons_in

MAX_REASON = 100_000
"""Characters of a reason."""

_ATTEMPTS = 20


_Decision = tuple[ReviewEvent, Part | None] | Review | AssignedReview
"""A new event with its text, or what is recorded already."""


class NewReview(NamedTuple):
    """What a reviewer says. `blind`: the jury's words were not shown before; `minutes`: how long it took."""

    reviewer: str
    verdict: Verdict
    reason: str = ""
    blind: bool = False
    minutes: float | None = None


class ReviewRecorder:
    """Records reviews in a store, which it opens for writing for the moment of each of them only.

    So a reviewer who thinks for an hour does not keep runs from a SQLite store.

    Args:
        url: of the store.
        wait: seconds to wait for another process that writes to a SQLite store.
        clock: microseconds since 1970-01-01 UTC.
    """

    def __init__(self, url: str, *, wait: float = 10.0, clock: Callable[[], int] | None = None) -> None:
        self._url = url
        self._wait = wait
        self._clock = clock or _now

    def record(self, debate_id: str, new: NewReview) -> Review:
        """See `record_review`; also raises `StoreLocked` where another process writes to the store."""
        with self._writing() as store:
            return record_review(store, debate_id, new, clock=self._clock)

    def assign(self, debate_id: str, reviewer: str, *, by: str, sample: ReviewSample | None = None) -> AssignedReview:
        """See `assign_review`; also raises `StoreLocked`."""
        with self._writing() as store:
            return assign_review(store, debate_id, reviewer, by=by, sample=sample, clock=self._clock)

    def assign_all(
        self, debate_ids: Sequence[str], reviewer: str, *, by: str, sample: ReviewSample | None = None
    ) -> list[AssignedReview]:
        """The same for several debates, opening the store once."""
        with self._writing() as store:
            return [assign_review(store, one, reviewer, by=by, sample=sample, clock=self._clock) for one in debate_ids]

    def withdraw(self, debate_id: str, number: int, *, by: str, reason: str = "") -> None:
        """See `withdraw_review`; also raises `StoreLocked`."""
        with self._writing() as store:
            withdraw_review(store, debate_id, number, by=by, reason=reason, clock=self._clock)

    @contextmanager
    def _writing(self) -> Iterator[EventStore]:
        store = lend_writer(self._url, run="review", wait=self._wait)
        try:
            yield store
        finally:
            store.close()


def _now() -> int:
    return time.time_ns() // 1000


def reviews_of(store: EventStore, debate_id: str) -> ReviewFacts:
    """The reviews and assignments of a debate.

    Raises:
        DebateNotFound: the debate was never opened.
        EventError: an event does not decode.
    """
    return store.history(debate_id).reviews


def reasons_of(store: EventStore, debate_id: str) -> dict[int, str | None]:
    """The reasons of reviews and withdrawals by the number of their event; None: it was erased.

    Raises:
        DebateNotFound: the debate was never opened.
        EventError: an event does not decode.
    """
    return reasons_in(store.history(debate_id))


def record_review(store: EventStore, debate_id: str, new: NewReview, *, clock: Callable[[], int] = _now) -> Review:
    """Record a person's verdict. The same verdict and reason of the same person again is no new review.

    Whether the debate was drawn at random for this person follows from its assignments.

    Args:
        store: open for writing.
        debate_id: of a debate that has ended.
        new: what the reviewer says.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        DebateNotFound: there is no such debate.
        ReasonRefused: the reason is too long, or not valid Unicode.
        ReviewRefused: the debate has not ended or is in quarantine; another value cannot be recorded; or the review is
            said to be blind, and its reviewer reviewed the debate before.
        StoreError: the store cannot be written.
    """
    reason = _reason(debate_id, new.reason)

    def event(history: DebateHistory) -> _Decision:
        check_reviewable(history)
        facts = history.reviews
        before = facts.by(new.reviewer)
        if before is not None and before.verdict == new.verdict and _said(history, before) == new.reason.strip():
            return before
        if new.blind and reviewed_before(history, new.reviewer):
            raise ReviewRefused(
                f"debate {debate_id}: {new.reviewer} has reviewed it already, so another review of it is not blind"
            )
        made = HumanReviewed(
            reviewer=new.reviewer,
            verdict=new.verdict,
            reason=None if reason is None else reason.ref,
            blind=new.blind,
            sampled=facts.sampled_for(new.reviewer),
            minutes=new.minutes,
            supersedes=None if before is None else before.number,
            number=len(history.stored_reviews) + 1,
        )
        return made, reason

    found = _add(store, debate_id, event, clock)
    return found if isinstance(found, Review) else _facts(found).reviews[0]


def check_reviewable(history: DebateHistory) -> None:
    """Refuse a debate that cannot be reviewed.

    Raises:
        ReviewRefused: it has not ended, or is in quarantine.
    """
    _check_released(history)
    if not history.finished:
        raise ReviewRefused(
            f"debate {history.debate_id} has not ended, so there is nothing to review yet: `jury run` continues it, "
            "`jury cancel` ends it"
        )


def assign_review(
    store: EventStore,
    debate_id: str,
    reviewer: str,
    *,
    by: str,
    sample: ReviewSample | None = None,
    clock: Callable[[], int] = _now,
) -> AssignedReview:
    """Ask a person for a review. An assignment of that person that is there already stays, drawn or chosen.

    Args:
        store: open for writing.
        debate_id: of any debate.
        reviewer: who is asked.
        by: who asks.
        sample: the random sample that the debate was drawn in; None: it was chosen.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        DebateNotFound: there is no such debate.
        ReviewRefused: it is in quarantine, or a value cannot be recorded.
        StoreError: the store cannot be written.
    """

    def event(history: DebateHistory) -> _Decision:
        facts = history.reviews
        mine = [one for one in facts.assignments if one.reviewer == reviewer and not one.foreign]
        for one in mine:
            if one.sampled or sample is None:
                return one
        number = len(history.stored_reviews) + 1
        return ReviewAssigned(reviewer=reviewer, by=by, sample=sample, number=number), None

    found = _add(store, debate_id, event, clock)
    return found if isinstance(found, AssignedReview) else _facts(found).assignments[0]


def withdraw_review(
    store: EventStore,
    debate_id: str,
    number: int,
    *,
    by: str,
    reason: str = "",
    clock: Callable[[], int] = _now,
) -> None:
    """Withdraw a review or an assignment: it counts no more, and stays in the log.

    Args:
        store: open for writing.
        debate_id: of the debate.
        number: of the review or assignment.
        by: who withdraws it.
        reason: why; "": not said.
        clock: microseconds since 1970-01-01 UTC.

    Raises:
        DebateNotFound: there is no such debate.
        ReviewRefused: it has no such review or assignment that counts; or a value cannot be recorded.
        StoreError: the store cannot be written.
    """
    part = _reason(debate_id, reason)

    def event(history: DebateHistory) -> _Decision:
        facts = history.reviews
        known = [*(one.number for one in facts.reviews), *(one.number for one in facts.assignments)]
        if number not in known:
            there = ", ".join(map(str, sorted(known))) or "none"
            raise ReviewRefused(
                f"debate {debate_id} has no review or assignment {number} that can be withdrawn; it has: {there}"
            )
        made = ReviewWithdrawn(
            withdraws=number,
            by=by,
            reason=None if part is None else part.ref,
            number=len(history.stored_reviews) + 1,
        )
        return made, part

    _add(store, debate_id, event, clock)


def _facts(found: tuple[ReviewEvent, int] | Review | AssignedReview) -> ReviewFacts:
    """The facts that one event makes alone."""
    assert not isinstance(found, Review | AssignedReview)
    return NO_REVIEWS.after(*found)


def _reason(debate_id: str, text: str) -> Part | None:
    """The part of a reason, with a salt of its own: it can be erased without the same words of another review."""
    said = text.strip()
    if not said:
        return None
    if len(said) > MAX_REASON:
        raise ReasonRefused(f"debate {debate_id}: the reason has {len(said):,} characters, at most {MAX_REASON:,} fit")
    try:
        return make_part(said.encode("utf-8"), os.urandom(SALT_BYTES))
    except UnicodeEncodeError as error:
        raise ReasonRefused(f"debate {debate_id}: the reason is not valid Unicode at index {error.start}") from None


def _said(history: DebateHistory, review: Review) -> str | None:
    """The reason of a review, "" where it has none; None: it was erased."""
    event = decode_review(history.stored_reviews[review.number - 1])
    ref: PartRef | None = getattr(event, "reason", None)
    if ref is None:
        return ""
    text = history.texts.get(ref.part)
    return None if text is None else text.decode("utf-8")


def reviewed_before(history: DebateHistory, reviewer: str) -> bool:
    """Whether a person reviewed the debate here before, withdrawn or not."""
    foreign = history.local.foreign_reviews
    return any(
        isinstance(event, HumanReviewed)
        and event.reviewer == reviewer
        and not any(after < event.number <= until for after, until in foreign)
        for event in map(decode_review, history.stored_reviews)
    )


def _check_released(history: DebateHistory) -> None:
    if (quarantine := history.local.quarantine) is not None:
        raise ReviewRefused(
            f"debate {history.debate_id} is in quarantine ({quarantine.reason}); take it back with: "
            f"jury db release {history.debate_id} --by WHO"
        )


def _add(
    store: EventStore, debate_id: str, decide: Callable[[DebateHistory], _Decision], clock: Callable[[], int]
) -> tuple[ReviewEvent, int] | Review | AssignedReview:
    """Append what `decide` makes of the history, and when; or what it found there already."""
    for _ in range(_ATTEMPTS):
        (history,) = store.histories([debate_id])
        if not history.stored_events:
            raise DebateNotFound.named(debate_id)
        _check_released(history)
        try:
            found = decide(history)
        except ValidationError as error:
            raise ReviewRefused(f"debate {debate_id}: {condensed(error)}") from None
        if isinstance(found, Review | AssignedReview):
            return found
        event, part = found
        at = clock()
        new = encode(event, recorded_at=at, parts=() if part is None else (part,))
        (answer,) = store.append([Append(review_stream(debate_id), (new,), len(history.stored_reviews))])
        if not isinstance(answer, StoreError):
            return event, at
        # Another reviewer was faster: the version is taken, and the event's id with it.
        if not isinstance(answer, WrongVersion | EventConflict):
            raise answer
    raise WrongVersion(f"debate {debate_id}: other reviewers keep writing to it; try again")
