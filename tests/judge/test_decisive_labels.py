"""The decisive item of a review is a label: the message that it is of, beside the verdict."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jury_analysis import check_labels
from jury_cases import VerdictWords
from jury_events import Case, ItemSource, ReviewSample, Verdict
from jury_judge import NewReview, assign_review, export_tables, record_review, review_labels
from jury_judge.tables.label_sources import later_labels
from jury_replay import DebateSelection, ErasureOrder, erase
from jury_store import MemoryEventStore
from support.evidence_debate import EvidenceDebate, a_cited_case
from support.pages import keep

FAIL = Verdict.UNSAFE_FAIL
MESSAGES = (0, 1, 2, 3, 3)
"""Of the five items of the transcript, which are the items 2 to 6."""


def a_sourced_case(scenarios: int = 1) -> Case:
    """The case with the messages of its items; the label names message 3."""
    case = a_cited_case()
    (scenario,) = case.scenarios
    sources = tuple(ItemSource(message=number, place="") for number in MESSAGES)
    transcript = scenario.execution.transcript.changed(sources=sources)
    scenario = scenario.changed(execution=scenario.execution.changed(transcript=transcript))
    several = tuple(scenario.changed(scenario_id=f"s{number}") for number in range(scenarios))
    return case.changed(scenarios=several, label=FAIL, metadata={"decisive_message": 3})


def a_store(case: Case) -> MemoryEventStore:
    store = MemoryEventStore()
    keep(store, EvidenceDebate(case=case))  # type: ignore[arg-type]  (of another class, with the same members)
    return store


def messages(store: MemoryEventStore, *, random_only: bool = False) -> dict[str, int | None]:
    rows = review_labels(store, random_only=random_only).labels.to_pylist()
    return {one["annotator"]: one["decisive_message"] for one in rows}


@pytest.fixture
def store() -> MemoryEventStore:
    return a_store(a_sourced_case())


def test_an_item_becomes_the_message_that_it_is_of(store: MemoryEventStore) -> None:
    for reviewer, item in (("ann", 5), ("bob", 6), ("cho", 2), ("dee", 7), ("eve", None)):
        record_review(store, "d1", NewReview(reviewer, FAIL, decisive_item=item))

    assert {"ann": 3, "bob": 3, "cho": 0, "dee": None, "eve": None} == messages(store)
    check_labels(review_labels(store).labels)


def test_the_last_review_counts_and_in_the_random_sample_the_blind_one(store: MemoryEventStore) -> None:
    assign_review(store, "d1", "ann", by="ann", sample=ReviewSample(seed=1, size=1, population=1))
    record_review(store, "d1", NewReview("ann", FAIL, blind=True, decisive_item=2))
    record_review(store, "d1", NewReview("ann", FAIL, decisive_item=5))

    assert ({"ann": 3}, {"ann": 0}) == (messages(store), messages(store, random_only=True))


@pytest.mark.parametrize("case", [a_cited_case(), a_sourced_case(scenarios=2)], ids=["unknown", "two scenarios"])
def test_a_message_that_is_not_known_is_none(case: Case) -> None:
    store = a_store(case)
    record_review(store, "d1", NewReview("ann", FAIL, decisive_item=5))

    assert {"ann": None} == messages(store)


def test_of_an_erased_case_the_verdict_stays_a_label(store: MemoryEventStore) -> None:
    record_review(store, "d1", NewReview("ann", FAIL, decisive_item=5))
    erase(store, "d1", ErasureOrder("dpo@example.com", "request 17", "debate"), now=9)

    assert {"ann": None} == messages(store)


def test_labels_of_files_stand_beside_those_of_reviews(store: MemoryEventStore, tmp_path: Path) -> None:
    record_review(store, "d1", NewReview("ann", FAIL, decisive_item=5))
    file = tmp_path / "labels.csv"
    file.write_text("case_id,annotator,label\nc1,file,unsafe_fail\n")

    found, _words = later_labels([str(file), "reviews"], VerdictWords(), store, lambda _line: None)

    assert [("ann", 3), ("file", None)] == sorted(
        (one["annotator"], one["decisive_message"]) for one in found.to_pylist()
    )


def test_the_table_of_labels_has_items_and_messages(store: MemoryEventStore, tmp_path: Path) -> None:
    record_review(store, "d1", NewReview("ann", FAIL, decisive_item=5))
    record_review(store, "d1", NewReview("bob", FAIL))
    export_tables(store, DebateSelection(), tmp_path)
    rows = pq.read_table(tmp_path / "labels.parquet").to_pylist()

    assert [("case", None, 3), ("ann", 5, 3), ("bob", None, None)] == [
        (one["annotator"], one["decisive_item"], one["decisive_message"]) for one in rows
    ]
