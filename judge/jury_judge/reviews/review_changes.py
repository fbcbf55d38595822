"""What a person wants to record of a debate, decided on what was read of it, and appended under that version.

Where another reviewer was faster, it is decided again, so that nothing is lost where several write at the same time.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from jury_events.case import MetadataValue, of_label
from jury_events.codec import ReviewEvent, decode_review, encode
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound
from jury_events.evaluation import SeatPosition
from jury_events.ids import review_stream
from jury_events.nearest import did_you_mean
from jury_events.parts import SALT_BYTES, Part, PartRef, make_part
from jury_events.review_events import CaseLabelled, HumanReviewed, ReviewAssigned, ReviewSample, ReviewWithdrawn
from jury_events.review_facts import NO_REVIEWS, AssignedReview, Review, ReviewFacts
from jury_events.text import condensed, visible_line
from jury_events.verdict import PASS, Verdict
from jury_judge.errors import ReasonRefused, ReviewRefused
from jury_judge.reviews.review_queue import reviewed_same_case
from jury_replay.intact import require_intact
from jury_store.errors import EventConflict, WrongVersion
from jury_store.event_store import Append, Appended, AppendResults, EventStore
from jury_views.case_view import numbered_items

MAX_REASON = 100_000
"""Characters of a reason."""

_ATTEMPTS = 20

Clock = Callable[[], int]
"""Microseconds since 1970-01-01 UTC."""


class NewReview(NamedTuple):
    """What a reviewer says. `blind`: the jury's words were not shown before; `minutes`: how long it took.

    `decisive_item`: the number of the first item where it went wrong; None: none is named. `label`: a label of the
    scale of the debate's panel, whose outcome is the verdict; with it the verdict can be None.
    """

    reviewer: str
    verdict: Verdict | None
    reason: str = ""
    blind: bool = False
    minutes: float | None = None
    decisive_item: int | None = None
    label: str | None = None


class NewLabel(NamedTuple):
    """A label of a case: its verdict (None: the case has no label any more), and the metadata that say more.

    See `jury_events.case.LABEL_METADATA`.
    """

    verdict: Verdict | None
    metadata: Mapping[str, MetadataValue]


_Decision = tuple[ReviewEvent, Part | None] | Review | AssignedReview | None
"""A new event with its text, or what is recorded already; None: there is nothing to record."""


class ReviewChange(NamedTuple):
    """A change of a debate's reviews. `decide` gets the store, open for reading, and what it has of the debate."""

    debate_id: str
    decide: Callable[[EventStore, DebateHistory], _Decision]


class DecidedEvent(NamedTuple):
    """An event that is to be appended."""

    event: ReviewEvent
    append: Append

    @property
    def facts(self) -> ReviewFacts:
        """The facts that the event makes alone."""
        return NO_REVIEWS.after(self.event, self.append.events[0].recorded_at)


Decided = DecidedEvent | Review | AssignedReview | None
"""What is to be appended, or what is recorded already."""


def microseconds_now() -> int:
    """Microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000


def verdict_change(debate_id: str, new: NewReview) -> ReviewChange:
    """A verdict; errors, here and in the decision, as of `record_review`."""
    reason = _reason(debate_id, new.reason)

    def decide(store: EventStore, history: DebateHistory) -> _Decision:
        check_reviewable(history)
        require_intact(store, [history])  # a person's verdict is on what was judged
        facts = history.reviews
        before = facts.by(new.reviewer)
        said = reviewed_position(history.opened, new)
        check_decisive_item(history, said.verdict, new.decisive_item)
        if before is not None and _says_the_same(history, before, new, said):
            return before
        if new.blind:
            _check_blind(store, debate_id, new.reviewer)
        made = HumanReviewed(
            reviewer=new.reviewer,
            verdict=said.verdict,
            reason=None if reason is None else reason.ref,
            blind=new.blind,
            sampled=facts.sampled_for(new.reviewer),
            minutes=new.minutes,
            supersedes=None if before is None else before.number,
            number=len(history.stored_reviews) + 1,
            decisive_item=new.decisive_item,
            label=said.label,
        )
        return made, reason

    return ReviewChange(debate_id, decide)


def assignment_change(debate_id: str, reviewer: str, *, by: str, sample: ReviewSample | None) -> ReviewChange:
    """An assignment, as of `assign_review`."""

    def decide(_store: EventStore, history: DebateHistory) -> _Decision:
        mine = [one for one in history.reviews.assignments if one.reviewer == reviewer and not one.foreign]
        for one in mine:
            if one.sampled or sample is None:
                return one
        number = len(history.stored_reviews) + 1
        return ReviewAssigned(reviewer=reviewer, by=by, sample=sample, number=number), None

    return ReviewChange(debate_id, decide)


def withdrawal_change(debate_id: str, number: int, *, by: str, reason: str) -> ReviewChange:
    """A withdrawal, as of `withdraw_review`."""
    part = _reason(debate_id, reason)

    def decide(_store: EventStore, history: DebateHistory) -> _Decision:
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

    return ReviewChange(debate_id, decide)


def label_change(debate_id: str, new: NewLabel, *, by: str) -> ReviewChange:
    """Another label of the case of a debate; nothing where it is the same."""

    def decide(_store: EventStore, history: DebateHistory) -> _Decision:
        now = history.labelled
        if (now.label, of_label(now.metadata)) == new:
            return None
        number = len(history.stored_reviews) + 1
        return CaseLabelled(label=new.verdict, metadata=dict(new.metadata), by=by, number=number), None

    return ReviewChange(debate_id, decide)


def decide_changes(store: EventStore, changes: Sequence[ReviewChange], clock: Clock) -> list[Decided]:
    """What the changes come to now, in their order."""
    histories = store.histories([one.debate_id for one in changes])
    return [_decided(store, one, history, clock) for one, history in zip(changes, histories, strict=True)]


def _decided(store: EventStore, change: ReviewChange, history: DebateHistory, clock: Clock) -> Decided:
    debate_id = change.debate_id
    if not history.stored_events:
        raise DebateNotFound.named(debate_id)
    _check_released(history)
    try:
        found = change.decide(store, history)
    except ValidationError as error:
        raise ReviewRefused(f"debate {debate_id}: {condensed(error)}") from None
    if found is None or isinstance(found, Review | AssignedReview):
        return found
    event, part = found
    new = encode(event, recorded_at=clock(), parts=() if part is None else (part,))
    return DecidedEvent(event, Append(review_stream(debate_id), (new,), len(history.stored_reviews)))


def all_stored(results: AppendResults) -> bool:
    """Whether every append was stored; False: another reviewer was faster, and it has to be decided again."""
    for one in results:
        # The version is taken, and the event's id with it.
        if not isinstance(one, Appended | WrongVersion | EventConflict):
            raise one
    return all(isinstance(one, Appended) for one in results)


def to_append(decided: Sequence[Decided]) -> list[Append]:
    """What is not recorded already."""
    return [one.append for one in decided if isinstance(one, DecidedEvent)]


def record_changes(store: EventStore, changes: Sequence[ReviewChange], clock: Clock) -> list[Decided]:
    """Append what the changes come to; returns that, in their order."""
    for _ in range(_ATTEMPTS):
        found = decide_changes(store, changes, clock)
        appends = to_append(found)
        # What was stored of several is found again, as what is recorded already.
        if not appends or all_stored(store.append(appends)):
            return found
    raise WrongVersion(f"debate {changes[0].debate_id}: other reviewers keep writing to it; try again")


def recorded_review(found: Decided) -> Review:
    """The review that a verdict came to."""
    if isinstance(found, DecidedEvent):
        return found.facts.reviews[0]
    assert isinstance(found, Review)
    return found


def recorded_assignment(found: Decided) -> AssignedReview:
    """The assignment that asking a person came to."""
    if isinstance(found, DecidedEvent):
        return found.facts.assignments[0]
    assert isinstance(found, AssignedReview)
    return found


def check_reviewable(history: DebateHistory) -> None:
    """Refuse a debate that cannot be reviewed."""
    _check_released(history)
    if not history.finished:
        raise ReviewRefused(
            f"debate {history.debate_id} has not ended, so there is nothing to review yet: `jury run` continues it, "
            "`jury cancel` ends it"
        )


def reviewed_position(opened: DebateOpened, new: NewReview) -> SeatPosition:
    """The verdict of a review, and its label."""
    where, scale, label = f"debate {opened.debate_id}", opened.panel.scale, new.label
    if label is None:
        if new.verdict is None:
            raise ReviewRefused(f"{where}: a review has a verdict, or a label of the panel's scale")
        return SeatPosition(new.verdict)
    shown = visible_line(label, 60)
    if scale is None:
        raise ReviewRefused(
            f"{where}: {shown!r} is no label: its panel has no scale of its own; say {', '.join(Verdict)}"
        )
    if label not in scale.ids:
        raise ReviewRefused(
            f"{where}: the scale {scale.name} has no label {shown!r}{did_you_mean(label, scale.ids)}; "
            f"it has {', '.join(scale.ids)}"
        )
    verdict = scale.verdict(label)
    if new.verdict not in {None, verdict}:
        raise ReviewRefused(f"{where}: the label {label} means {verdict}, not {new.verdict}; leave the verdict out")
    return SeatPosition(verdict, label)


def check_decisive_item(history: DebateHistory, verdict: Verdict, number: int | None) -> None:
    """Refuse a decisive item that the debate has not, or that its reviewer cannot name."""
    debate_id = history.debate_id
    if number is None:
        return
    if verdict is PASS:
        raise ReviewRefused(f"debate {debate_id}: a pass has no decisive item; leave the item out")
    items = numbered_items(history.opened, history.texts)
    if items is None:
        raise ReviewRefused(f"debate {debate_id}: its case was erased, or cannot be read; leave the item out")
    if items.item(number) is None:
        raise ReviewRefused(f"debate {debate_id} has no item {number}; its last item is {items.last}")


def _says_the_same(history: DebateHistory, before: Review, new: NewReview, said: SeatPosition) -> bool:
    same = (before.verdict, before.label, before.decisive_item) == (*said, new.decisive_item)
    return same and _said(history, before) == new.reason.strip()


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


def _check_blind(store: EventStore, debate_id: str, reviewer: str) -> None:
    reviewed = reviewed_same_case(store, debate_id, reviewer)
    if reviewed is None:
        return
    if reviewed == debate_id:
        said = "has reviewed it already, so another review of it is not blind"
    else:
        said = f"has reviewed {reviewed}, a debate of the same case, so a review of this one is not blind"
    raise ReviewRefused(f"debate {debate_id}: {reviewer} {said}")


def _check_released(history: DebateHistory) -> None:
    if (quarantine := history.local.quarantine) is not None:
        raise ReviewRefused(
            f"debate {history.debate_id} is in quarantine ({quarantine.reason}); take it back with: "
            f"jury db release {history.debate_id} --by WHO"
        )
