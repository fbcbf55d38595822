"""What is to be reviewed next, and whether a person may have read what the jury said of a case.

A reviewer reads the jury's words on a debate after their verdict on it. Forks, repeats and other runs judge the same
case, so what makes a reviewer partial is the case: a review of any debate of it, withdrawn or not. The digests of one
case differ between debates, as each has a salt of its own; so texts are compared, of debates with the same case id
alone: a case's text contains its id.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from jury_events.case import Case
from jury_events.codec import decode_review
from jury_events.conditions import Condition
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.ids import local_stream, review_stream
from jury_events.review_events import HumanReviewed
from jury_events.verdict import REVIEW
from jury_events.verdict_scale import OUTCOME_WORDS
from jury_judge.reviews.random_draws import digest
from jury_judge.store_access.debates import listed_rows
from jury_store.ballot_sheet import VOTE_LABEL
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter, DebateRow
from jury_store.event_store import EventStore

UNDECIDED: Final = "needs_review"
Why = Literal["assigned", "sampled", "disputed", "not_accepted", "needs_review"]
"""Why a debate is in the queue: a person is asked for it, or it was drawn at random for them; its reviewers differ; the
calibrated panel did not accept the verdict; the verdict asks for one (`UNDECIDED`, the word of the documents)."""

_PAGE = 1000
_SEAT, _VERDICT = "seat", "verdict"
_ORDER: tuple[Why, ...] = ("assigned", "sampled", "disputed")


class QueueItem(NamedTuple):
    """A debate to review. `disagreement`: the share of seats whose last vote is not the most frequent one, 0 to 1;
    seats without a vote count as differing; None: the jury's verdict asks for no person, or the votes cannot be
    read. `partial`: the debate of the same case that the person has reviewed, so that a review is not blind (filled in
    by `blindness.partial_items`). `by_labels`: votes are labels of a scale of the panel's own; False where
    `disagreement` is None. `others`: how many further debates of the case wait, where the queue has one entry a case
    (`one_a_case`)."""

    row: DebateRow
    why: Why
    disagreement: float | None
    partial: str | None = None
    by_labels: bool = False
    others: int = 0

    @property
    def reason(self) -> str:
        """`why`, to be shown: `UNDECIDED` is the outcome's word, `review`, where votes are labels."""
        return OUTCOME_WORDS[REVIEW] if self.by_labels and self.why == UNDECIDED else self.why


class Disagreement(NamedTuple):
    """How far a jury differs: `share` as in `QueueItem`; `by_labels`: votes are labels of a scale of its own."""

    share: float
    by_labels: bool


def review_queue(
    store: EventStore, reviewer: str | None = None, wanted: DebateFilter = EVERY_DEBATE, *, reviews: int = 1
) -> list[QueueItem]:
    """The debates that a person is to review, in that order.

    First those that the person is asked for, then those drawn at random in a random order (who stops early has reviewed
    a random sample all the same), then those whose reviewers differ (for a third), then the others, the most
    disagreement of the jury first. Debates that the person reviewed already are left out, and those that another
    person is asked for already where that makes `reviews` reviewers.

    Args:
        reviewer: whose queue; None: of all people, so that nothing is left out that waits for one of them.
        reviews: how many people are to review a debate: 2 for double review.
    """
    found: dict[str, tuple[DebateRow, Why]] = {}
    for row in _ended(store, wanted._replace(may_need_review=True)):
        why = why_waiting(row, reviewer, reviews)
        if why is not None:
            found[row.debate_id] = row, why
    spread = _disagreements(store, wanted, found.keys()) if found else {}
    return sorted((_item(row, why, spread.get(one)) for one, (row, why) in found.items()), key=_rank)


def one_a_case(items: Sequence[QueueItem]) -> list[QueueItem]:
    """The first debate of each case in a queue: a person reads a case once."""
    first = {item.row.case_id: item for item in reversed(items)}
    counts = Counter(item.row.case_id for item in items)
    return [item._replace(others=counts[item.row.case_id] - 1) for item in items if first[item.row.case_id] is item]


def reviewed_cases(store: EventStore, reviewer: str, wanted: DebateFilter = EVERY_DEBATE) -> set[str]:
    """The ids of the cases of which a person has reviewed a debate."""
    rows = _ended(store, wanted._replace(with_reviews=True))
    return {row.case_id for row in rows if row.review_facts.by(reviewer) is not None}


def disputed(store: EventStore, wanted: DebateFilter = EVERY_DEBATE) -> list[DebateRow]:
    """Debates whose reviewers differ and no verdict has more than half of them, in the order in which they opened."""
    return [row for row in _ended(store, wanted._replace(reviewed=True)) if row.review_facts.disputed]


def disagreement(votes: str | None) -> Disagreement | None:
    """The share of seats whose last vote is not the most frequent one, from packed ballots (`ballot_sheet`).

    Votes under a scale of the panel's own differ by label: two labels of one outcome are two votes.
    """
    if votes is None:
        return None
    sheet = json.loads(votes)
    seats = len(sheet["seats"])
    if not seats:
        return None
    verdicts, by_labels = sheet[_VERDICT], VOTE_LABEL in sheet
    labels = sheet[VOTE_LABEL] if by_labels else [None] * len(verdicts)
    # Sorted by round: the last vote of a seat stays.
    last = {seat: vote for seat, *vote in zip(sheet[_SEAT], verdicts, labels, strict=True) if seat < seats}
    counts = Counter((verdict, label) for verdict, label in last.values() if verdict is not None)
    return Disagreement(1 - max(counts.values(), default=0) / seats, by_labels)


def why_waiting(row: DebateRow, reviewer: str | None, reviews: int = 1) -> Why | None:
    """Why a debate is in the queue of a person (None: of all people); None: it is not."""
    facts = row.review_facts
    reviewers = {one.reviewer for one in facts.standing}
    if reviewer is not None and reviewer in reviewers:
        return None
    asked = {one.reviewer: one for one in facts.open_assignments}
    if asked and reviewer is None:
        return "sampled" if any(one.sampled for one in asked.values()) else "assigned"
    if reviewer in asked:
        return "sampled" if facts.sampled_for(reviewer or "") else "assigned"
    if facts.disputed:
        return "disputed"
    if len(reviewers) + len(asked) >= reviews:
        return None
    if row.accepted is False:
        return "not_accepted"
    # A second review is wanted whatever the first one said.
    return UNDECIDED if row.final_verdict == REVIEW else None


def _item(row: DebateRow, why: Why, found: Disagreement | None) -> QueueItem:
    return QueueItem(row, why, None) if found is None else QueueItem(row, why, found.share, by_labels=found.by_labels)


def _rank(item: QueueItem) -> tuple[int, bytes, float, int]:
    first = _ORDER.index(item.why) if item.why in _ORDER else len(_ORDER)
    shuffled = digest(item.row.case_id) if item.why == "sampled" else b""
    ordered = first == len(_ORDER) and item.disagreement is not None
    return first, shuffled, -(item.disagreement or 0.0) if ordered else 0.0, item.row.position


def _ended(store: EventStore, wanted: DebateFilter) -> Iterator[DebateRow]:
    """Completed, failed and cancelled debates in the order in which they opened."""
    return (row for row in listed_rows(store, wanted) if row.ended_at is not None)


def _disagreements(store: EventStore, wanted: DebateFilter, debates: Container[str]) -> dict[str, Disagreement | None]:
    if wanted.verdict not in {None, REVIEW}:
        return {}
    return {
        one.debate_id: disagreement(one.votes)
        for batch in store.ballots(wanted._replace(verdict=REVIEW.value))
        for one in batch
        if one.debate_id in debates
    }


def is_same_text(one: bytes | None, other: bytes | None) -> bool:
    """Whether two texts of cases with one id are the same case.

    Left out are the records of artifacts, which may be fetched when a debate opens. None: the text was erased, and the
    id alone says it.
    """
    if one is None or other is None or one == other:
        return True
    try:
        first, second = Case.from_part(one), Case.from_part(other)
    except EventError:
        return True  # a text that cannot be read rules nothing out
    return _judged(first) == _judged(second)


def _judged(case: Case) -> bytes:
    return case.changed(security_gate_records=(), agent_card_records=()).to_part()


def reviewed_before(history: DebateHistory, reviewer: str) -> bool:
    """Whether a person reviewed the debate here before, withdrawn or not."""
    foreign = history.local.foreign_reviews
    return any(
        isinstance(event, HumanReviewed)
        and event.reviewer == reviewer
        and not any(after < event.number <= until for after, until in foreign)
        for event in map(decode_review, history.stored_reviews)
    )


def reviewed_same_case(store: EventStore, debate_id: str, reviewer: str) -> str | None:
    """The debate of this case that a person reviewed first of all, so that no review of the case is blind any more.

    Looks for the debates of that case id in the list, and reads their streams of reviews.

    Returns:
        The debate's own id where it was reviewed itself; None: the person reviewed none.
    """
    row = store.debate(debate_id)
    if row is None:
        return None
    others = [one for one in _debates_of_case(store, row.case_id) if one.debate_id != debate_id]
    for start in range(0, 1 + len(others), _PAGE):
        page = [row, *others][start : start + _PAGE]
        streams = [name(one.debate_id) for one in page for name in (review_stream, local_stream)]
        found = store.read_streams(streams)
        for one in page:
            mine = {name(one.debate_id): found.get(name(one.debate_id), []) for name in (review_stream, local_stream)}
            if reviewed_before(DebateHistory(one.debate_id, mine), reviewer) and _are_one_case(store, row, one):
                return one.debate_id
    return None


def partial_items(store: EventStore, reviewer: str, items: Sequence[QueueItem]) -> list[QueueItem]:
    """The same items of a person's queue, each with the debate of its case that the person has reviewed.

    It knows the reviews that the list has: one that was withdrawn shows when the debate itself is opened.
    """
    reviewed: dict[str, list[DebateRow]] = defaultdict(list)
    for quarantined in (False, True):
        for row in listed_rows(store, DebateFilter(with_reviews=True, quarantined=quarantined, counted=None)):
            if any(one.reviewer == reviewer and not one.foreign for one in row.reviews):
                reviewed[row.case_id].append(row)
    return [item._replace(partial=_first_of_case(store, item.row, reviewed[item.row.case_id])) for item in items]


def _first_of_case(store: EventStore, row: DebateRow, others: Iterable[DebateRow]) -> str | None:
    return next((one.debate_id for one in others if _are_one_case(store, row, one)), None)


def _are_one_case(store: EventStore, row: DebateRow, other: DebateRow) -> bool:
    return row.case_part == other.case_part or is_same_text(_text(store, row), _text(store, other))


def _text(store: EventStore, row: DebateRow) -> bytes | None:
    part = store.parts(row.debate_id, [row.case_part]).get(row.case_part)
    return None if part is None else part.content


def _debates_of_case(store: EventStore, case_id: str) -> Iterator[DebateRow]:
    condition = Condition("case_id", "=", case_id)
    for quarantined in (False, True):
        yield from listed_rows(store, DebateFilter(where=(condition,), quarantined=quarantined, counted=None))
