"""Committed events are kept without a gap and within a bound, until both projections have taken them in."""

import pytest

from jury_events import NewEvent, Part, StoredEvent
from jury_store import Append, CommittedEvents, committed_events
from jury_store.append_plan import PartRow
from jury_store.projection_checkpoints import LISTS, SEARCH

TEXT = Part(b"d" * 32, b"s" * 16, b"text")


def stored(*positions: int) -> list[StoredEvent]:
    return [
        StoredEvent(position, "debate/d", position, f"e{position}", "juror_evaluated", 1, 0, b"{}", b"")
        for position in positions
    ]


def kept(*commits: tuple[int, ...]) -> CommittedEvents:
    """The events at these positions, without texts."""
    recent = CommittedEvents(texts=False)
    for positions in commits:
        recent.keep([], stored(*positions), [])
    return recent


def test_the_next_events_come_over_the_borders_of_commits() -> None:
    recent = kept((4, 5), (6, 7, 8))

    assert recent.after(3, 9) == stored(4, 5, 6, 7, 8)
    assert recent.after(4, 2) == stored(5, 6)
    assert recent.after(7, 9) == stored(8)


def test_what_is_not_kept_must_be_read() -> None:
    recent = kept((4, 5))

    assert recent.after(2, 9) is None
    assert recent.after(5, 9) is None
    assert CommittedEvents(texts=False).after(0, 9) is None


def test_events_of_another_writer_in_between_end_what_is_kept() -> None:
    recent = kept((4, 5), (8,))

    assert recent.after(4, 9) is None
    assert recent.after(7, 9) == stored(8)


def test_events_leave_when_both_projections_have_them() -> None:
    recent = kept((1, 2), (3,))
    recent.reached(LISTS, 3)

    assert recent.after(0, 9) == stored(1, 2, 3)

    recent.reached(SEARCH, 2)

    assert recent.after(1, 9) is None
    assert recent.after(2, 9) == stored(3)


def test_the_oldest_leave_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committed_events, "MOST_BYTES", 1200)
    recent = kept((1,), (2,), (3,))

    assert recent.after(0, 9) is None
    assert recent.after(1, 9) == stored(2, 3)


@pytest.mark.parametrize(
    ("kind", "texts", "found"),
    [
        ("juror_evaluated", True, True),
        ("exchange_recorded", True, False),
        ("juror_evaluated", False, False),
    ],
)
def test_stored_texts_that_can_be_searched_for_are_kept_until_they_are_erased(
    kind: str, texts: bool, found: bool
) -> None:
    recent = CommittedEvents(texts=texts)
    request = Append("debate/d", (NewEvent("e1", kind, 1, 0, b"{}", (TEXT,)),), 0, 1)
    recent.keep([request], stored(1), [PartRow("d", *TEXT)])
    key = ("d", TEXT.digest)

    assert recent.texts([key], 0) == ({key: TEXT} if found else {})
    assert recent.texts([key], 1) == {}

    recent.erased("d", [TEXT.digest])

    assert recent.texts([key], 0) == {}


def test_a_text_of_a_refused_request_is_not_kept() -> None:
    recent = CommittedEvents(texts=True)
    request = Append("debate/d", (NewEvent("e1", "juror_evaluated", 1, 0, b"{}", (TEXT,)),), 0, 1)
    recent.keep([request], stored(1), [])

    assert recent.texts([("d", TEXT.digest)], 0) == {}
