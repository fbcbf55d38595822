"""A case gets another label after its debate opened: on record, in every list, in cassettes."""

from pathlib import Path

import pytest

from jury_events import Verdict, parse_conditions
from jury_judge import NewLabel
from jury_replay import ImportResult, import_cassette, intact_history, read_cassette, verify
from jury_store import DebateFilter, EventStore, MemoryEventStore
from jury_views import line_of, result_of
from support.cassettes import out_of, record_debate, seal
from support.recorded_reviews import record_label

FAIL, REVIEW = Verdict.UNSAFE_FAIL, Verdict.NEEDS_REVIEW


def label_of(store: EventStore) -> tuple[str | None, object]:
    row = store.debate("d")
    assert row is not None
    return row.label, row.metadata.get("scale_label")


def found_by(store: EventStore, *conditions: str) -> list[str]:
    return [one.debate_id for one in store.list_debates(DebateFilter(where=parse_conditions(conditions)))]


def test_lists_follow_the_newest_label(any_store: EventStore) -> None:
    record_debate(any_store)
    any_store.project()

    record_label(any_store, "d", NewLabel(REVIEW, {"scale_label": "mild"}), by="ann")
    any_store.project()
    record_label(any_store, "d", NewLabel(FAIL, {"scale_label": "severe"}), by="bo")
    record_label(any_store, "d", NewLabel(FAIL, {"scale_label": "severe"}), by="bo")

    for advance in (lambda: None, any_store.project, any_store.rebuild):
        advance()
        assert ("unsafe_fail", "severe") == label_of(any_store)
        assert ["d"] == found_by(any_store, "label=unsafe_fail") == found_by(any_store, "metadata.scale_label=severe")
        assert [] == found_by(any_store, "label=needs_review") + found_by(any_store, "metadata.scale_label=mild")
        assert {"scale_label": "severe"} == any_store.cases_of(["d"])["d"].of_label
        assert [] == any_store.list_faults()
    assert 2 == len(any_store.read_stream("review/d"))
    assert verify(any_store).ok


def test_a_label_that_is_removed_is_in_no_list_and_no_result(any_store: EventStore) -> None:
    record_debate(any_store)
    record_label(any_store, "d", NewLabel(FAIL, {"scale_label": "severe"}), by="ann")
    record_label(any_store, "d", NewLabel(None, {}), by="bo")
    record_label(any_store, "d", NewLabel(None, {}), by="bo")

    for advance in (lambda: None, any_store.project, any_store.rebuild):
        advance()
        assert (None, None) == label_of(any_store)
        assert [] == found_by(any_store, "label=unsafe_fail") + found_by(any_store, "metadata.scale_label=severe")
        assert [] == any_store.list_faults()
    assert 2 == len(any_store.read_stream("review/d"))
    assert result_of(intact_history(any_store, "d")).data()["label"] is None
    assert verify(any_store).ok


def test_results_have_the_newest_label(any_store: EventStore) -> None:
    record_debate(any_store)
    record_label(any_store, "d", NewLabel(FAIL, {}), by="ann")

    history = intact_history(any_store, "d")

    assert "unsafe_fail" == result_of(history).data()["label"] == line_of(history)["label"]
    assert FAIL == history.labelled.label != history.opened.label


@pytest.fixture
def origin() -> MemoryEventStore:
    store = MemoryEventStore()
    record_debate(store)
    return store


def taken(path: Path, origin: EventStore, into: EventStore, key: str | None = None) -> ImportResult:
    path.write_bytes(out_of(origin))
    return import_cassette(into, read_cassette(path), verified_with=key)


def test_a_cassette_has_the_label_and_one_without_a_trusted_seal_changes_none_here(
    origin: MemoryEventStore, tmp_path: Path
) -> None:
    path, here, new = tmp_path / "one.cassette.jsonl", MemoryEventStore(), MemoryEventStore()
    seal(origin)
    taken(path, origin, here)
    before = label_of(here)

    record_label(origin, "d", NewLabel(FAIL, {}), by="mallory")
    seal(origin)
    left = taken(path, origin, here)

    assert (1, before) == (left.reviews_left, label_of(here))
    assert 0 == taken(path, origin, new).reviews_left
    assert ("unsafe_fail", None) == label_of(new)
    assert 0 == taken(path, origin, here, key="example.com/jury").reviews_left
    assert ("unsafe_fail", None) == label_of(here)
    assert verify(here).ok
