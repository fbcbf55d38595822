"""A person names the item where it went wrong first: recorded, compared, a label; refused where it cannot be meant."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from jury_analysis import check_labels
from jury_cases import VerdictWords
from jury_events import Case, HumanReviewed, ItemSource, ReviewSample, Verdict, decode_review, review_stream
from jury_judge import (
    NewReview,
    ReviewRefused,
    assign_review,
    export_tables,
    record_review,
    review_agreement,
    review_labels,
    reviews_of,
)
from jury_judge.tables.label_sources import later_labels
from jury_replay import DebateSelection, ErasureOrder, erase, verify
from jury_store import EventStore, MemoryEventStore, open_store
from jury_views import event_lines
from support.debate_builder import DebateBuilder
from support.evidence_debate import TABLE, EvidenceDebate, a_cited_case
from support.pages import keep
from support.refusals import RefusalTables
from support.review_site import TOKEN, Visit, review_site

pytestmark = pytest.mark.full_for("postgresql")

PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
ERASURE = ErasureOrder("dpo@example.com", "request 17", "debate")


def a_store(debate: EvidenceDebate | DebateBuilder | None = None) -> MemoryEventStore:
    """With the debate `d1` ; its items are 1 to 8, and its jury names item 5 twice and item 3 once."""
    store = MemoryEventStore()
    keep(store, debate or EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    return store


def naming(item: int | None, verdict: Verdict = FAIL, reviewer: str = "ann") -> NewReview:
    return NewReview(reviewer, verdict, decisive_item=item)


def named(store: EventStore, *items: int | None) -> None:
    for reviewer, item in zip("abcdef", items, strict=False):
        record_review(store, "d1", naming(item, reviewer=reviewer))


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    if request.param == "sqlite":
        yield a_store()
        return
    opened = open_store(request.getfixturevalue("postgres_url"), write=True)
    keep(opened, EvidenceDebate())  # type: ignore[arg-type]
    yield opened
    opened.close()


def test_the_item_is_in_the_log_in_the_lists_and_verified(store: EventStore) -> None:
    before = verify(store, deep=True).failures  # its model calls are not stored
    record_review(store, "d1", naming(5))
    record_review(store, "d1", naming(None, PASS, "bob"))
    row = store.debate("d1")
    bodies = [json.loads(one.body) for one in store.read_stream(review_stream("d1"))]

    assert row is not None
    assert [5, None] == [one.decisive_item for one in row.reviews]
    assert row.review_facts == reviews_of(store, "d1")
    assert [5, "left out"] == [one.get("decisive_item", "left out") for one in bodies]
    assert before == verify(store, deep=True).failures
    assert store.rebuild() > 0
    assert row == store.debate("d1")


def test_another_item_is_another_review_and_the_same_one_is_none(store: EventStore) -> None:
    first, again, other = (record_review(store, "d1", naming(item)) for item in (5, 5, 3))

    assert first == again
    assert (1, 3) == (other.supersedes, other.decisive_item)


def test_an_item_that_cannot_be_meant_is_refused(refusals: RefusalTables) -> None:
    one, erased, unnumbered = a_store(), a_store(), a_store(DebateBuilder().phase_1().round_1().judged())
    erase(erased, "d1", ERASURE, now=9)
    (debate,) = (row.debate_id for row in unnumbered.debates(limit=1))
    rows = {f"item {item}": (one, "d1", naming(item)) for item in (0, 9, -1, 1_000_000, 10**9)}
    rows["item of a pass"] = (one, "d1", naming(5, PASS))
    rows["erased case"] = (erased, "d1", naming(5))
    rows["prompts that number no items"] = (unnumbered, debate, naming(1))

    refusals.check("decisive_items", rows, lambda row: record_review(*row), ReviewRefused)
    assert () == reviews_of(one, "d1").reviews
    assert 5 == record_review(one, "d1", naming(5, REVIEW)).decisive_item


def test_an_event_of_a_pass_has_no_decisive_item() -> None:
    fields = {"reason": None, "blind": False, "sampled": False, "minutes": None, "supersedes": None, "number": 1}

    with pytest.raises(ValueError, match="a pass has no decisive item"):
        HumanReviewed(reviewer="ann", verdict=PASS, decisive_item=5, **fields)  # type: ignore[arg-type]


def test_the_events_say_it_in_both_languages() -> None:
    store = a_store()
    record_review(store, "d1", naming(5)._replace(blind=True))
    (event,) = store.read_stream(review_stream("d1"))
    said = [event_lines([event], language=language)[0].said for language in ("en", "ja")]

    assert [
        "unsafe_fail by ann, blind, decisive item 5",
        "unsafe_fail（ann）、陪審団の意見を見ずに判定、決め手の項目5",
    ] == said
    assert isinstance(decode_review(event), HumanReviewed)


# Agreement: of so many pairs that both name an item, so many name the same; among people, and with the jury.


@pytest.mark.parametrize(
    ("items", "people", "jury"),
    [
        ((5, 5, 3, None), (1, 3), (2, 3)),
        ((None, None), (0, 0), (0, 0)),
        ((5,), (0, 0), (1, 1)),
    ],
)
def test_pairs_of_reviewers_and_the_jury_are_compared(
    items: tuple[int | None, ...], people: tuple[int, int], jury: tuple[int, int]
) -> None:
    store = a_store()
    named(store, *items)

    assert (people, jury) == review_agreement(store).decisive


def test_the_first_verdict_counts_and_a_jury_without_one_item_is_not_compared() -> None:
    store, undecided = a_store(), a_store(EvidenceDebate(TABLE, TABLE["gemini"][0]))
    named(store, 3, 5)
    record_review(store, "d1", NewReview("a", FAIL, "b convinced me", decisive_item=5))
    named(undecided, 5)

    assert ((0, 1), (1, 2)) == review_agreement(store).decisive
    assert ((0, 0), (0, 0)) == review_agreement(undecided).decisive


def test_the_page_of_reviewers_has_the_agreement(printed: RefusalTables) -> None:
    store = a_store()
    named(store, 5, 5, 3)
    client: TestClient
    with review_site(store) as client:
        visit = Visit(client, TOKEN)
        pages = {language: visit.get(f"/reviewers?lang={language}").all(".same-item") for language in ("en", "ja")}

    printed.compare("agreement_on_items", {language: "\n".join(lines) for language, lines in pages.items()})


# Labels: the message that the item is of, beside the verdict.


def a_sourced_case(scenarios: int = 1) -> Case:
    """The case with the messages of the five items of its transcript, which are the items 2 to 6."""
    case = a_cited_case()
    (scenario,) = case.scenarios
    sources = tuple(ItemSource(message=number, place="") for number in (0, 1, 2, 3, 3))
    transcript = scenario.execution.transcript.changed(sources=sources)
    scenario = scenario.changed(execution=scenario.execution.changed(transcript=transcript))
    several = tuple(scenario.changed(scenario_id=f"s{number}") for number in range(scenarios))
    return case.changed(scenarios=several, label=FAIL, metadata={"decisive_message": 3})


@pytest.fixture
def sourced() -> MemoryEventStore:
    return a_store(EvidenceDebate(case=a_sourced_case()))


def messages(store: MemoryEventStore, *, random_only: bool = False) -> dict[str, int | None]:
    labels = review_labels(store, random_only=random_only).labels
    check_labels(labels)
    return {one["annotator"]: one["decisive_message"] for one in labels.to_pylist()}


def test_an_item_becomes_the_message_that_it_is_of(sourced: MemoryEventStore) -> None:
    named(sourced, 5, 6, 2, 7, None)

    assert {"a": 3, "b": 3, "c": 0, "d": None, "e": None} == messages(sourced)


def test_the_last_review_counts_and_in_the_random_sample_the_blind_one(sourced: MemoryEventStore) -> None:
    assign_review(sourced, "d1", "ann", by="ann", sample=ReviewSample(seed=1, size=1, population=1))
    record_review(sourced, "d1", naming(2)._replace(blind=True))
    record_review(sourced, "d1", naming(5))

    assert ({"ann": 3}, {"ann": 0}) == (messages(sourced), messages(sourced, random_only=True))


def test_a_message_that_is_not_known_or_erased_is_none(sourced: MemoryEventStore) -> None:
    unknown, several = a_store(), a_store(EvidenceDebate(case=a_sourced_case(scenarios=2)))
    for store in (unknown, several, sourced):
        record_review(store, "d1", naming(5))
    erase(sourced, "d1", ERASURE, now=9)

    assert [{"ann": None}] * 3 == [messages(store) for store in (unknown, several, sourced)]


def test_the_table_of_labels_has_items_and_messages(sourced: MemoryEventStore, tmp_path: Path) -> None:
    record_review(sourced, "d1", naming(5))
    record_review(sourced, "d1", naming(None, reviewer="bob"))
    export_tables(sourced, DebateSelection(), tmp_path)
    rows = pq.read_table(tmp_path / "labels.parquet").to_pylist()

    assert [("case", None, 3), ("ann", 5, 3), ("bob", None, None)] == [
        (one["annotator"], one["decisive_item"], one["decisive_message"]) for one in rows
    ]


def test_labels_of_files_stand_beside_those_of_reviews(sourced: MemoryEventStore, tmp_path: Path) -> None:
    record_review(sourced, "d1", naming(5))
    file = tmp_path / "labels.csv"
    file.write_text("case_id,annotator,label\nc1,file,unsafe_fail\n")

    found, _words = later_labels([str(file), "reviews"], VerdictWords(), sourced, lambda _line: None)

    assert {"ann": 3, "file": None} == {one["annotator"]: one["decisive_message"] for one in found.to_pylist()}
