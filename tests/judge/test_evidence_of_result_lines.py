"""A result line counts the quotations of a debate that was asked for them."""

from typing import Any

import pytest

from jury_events import DebateHistory
from jury_store import MemoryEventStore
from jury_views import line_of
from support.evidence_lists import store_quoting_debates

COUNTS: dict[str, tuple[Any, ...] | None] = {
    "agreeing": (2, 0, 0, 0, 0, "agree"),
    "split": (2, 1, 0, 1, 0, "disagree"),
    "alone": (2, 0, 1, 0, 1, "none"),
    "bare": (0, 0, 0, 0, 3, "none"),
    "early": None,
}


@pytest.fixture(scope="module")
def histories() -> list[DebateHistory]:
    store = MemoryEventStore()
    store_quoting_debates(store)
    return store.histories(list(COUNTS))


def test_lines(histories: list[DebateHistory]) -> None:
    found = {history.debate_id: line_of(history)["evidence"] for history in histories}

    names = ("verified", "normalised", "elsewhere", "not_found", "unsupported", "decisive")
    assert {
        debate: None if counts is None else dict(zip(names, counts, strict=True)) for debate, counts in COUNTS.items()
    } == found


def test_a_line_says_what_the_list_says(histories: list[DebateHistory]) -> None:
    store = MemoryEventStore()
    store_quoting_debates(store)

    for history in histories:
        row = store.debate(history.debate_id)

        assert row is not None
        line = line_of(history)["evidence"]
        assert (None if row.evidence is None else row.evidence.unsupported) == (line and line["unsupported"])
        assert (None if row.evidence is None else row.evidence.verified) == (line and line["verified"])
