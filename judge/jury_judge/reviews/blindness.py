"""Whether a person may have read what the jury said of a case, before they review a debate of it.

A reviewer reads the jury's words on a debate after their verdict on it. Forks, repeats and other runs judge the same
case, so what makes a reviewer partial is the case: a review of any debate of it, withdrawn or not. The digests of one
case differ between debates, as each has a salt of its own; so texts are compared, of debates with the same case id
alone: a case's text contains its id.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from jury_events.case import Case
from jury_events.codec import decode_review
from jury_events.conditions import Condition
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.ids import local_stream, review_stream
from jury_events.review_events import HumanReviewed
from jury_judge.reviews.review_queue import QueueItem
from jury_store.debate_rows import DebateFilter, DebateRow
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST, PageCursor

_PAGE = 1000


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

    Args:
        store: open for reading.
        debate_id: of any debate.
        reviewer: the person.

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
        for row in _rows(store, DebateFilter(with_reviews=True, quarantined=quarantined, counted=None)):
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
        yield from _rows(store, DebateFilter(where=(condition,), quarantined=quarantined, counted=None))


def _rows(store: EventStore, wanted: DebateFilter) -> Iterator[DebateRow]:
    after = PageCursor(0)
    while rows := store.list_debates(wanted, OLDEST, limit=_PAGE, after=after):
        yield from rows
        after = PageCursor(rows[-1].position)
