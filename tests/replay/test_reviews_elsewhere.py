"""Reviews leave a store in cassettes, come into others, and their reasons are erased on record."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jury_events import Verdict
from jury_judge import NewReview
from jury_replay import (
    Erased,
    ErasureOrder,
    ErasureRefused,
    ImportResult,
    erase,
    import_cassette,
    plan_erasure,
    read_cassette,
    replay_history,
    verify,
)
from jury_store import EventStore, MemoryEventStore
from support.cassettes import out_of, record_debate, seal
from support.recorded_reviews import reasons_of, record_review, reviews_of, withdraw_review
from support.review_site import REVIEWERS, TOKEN, review_site
from support.tampered_store import TamperedStore

PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL
ORDER = ErasureOrder("dpo@example.com", "request 17", "review/1")


@pytest.fixture
def store() -> MemoryEventStore:
    """A debate that ann reviewed."""
    store = MemoryEventStore()
    record_debate(store)
    record_review(store, "d", NewReview("ann", FAIL, "It paid twice."), clock=lambda: 5)
    return store


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., ImportResult]:
    """Imports the cassette of debate d of one store into another."""

    def takes(origin: EventStore, into: EventStore, *, key: str | None = None) -> ImportResult:
        path = tmp_path / "one.cassette.jsonl"
        path.write_bytes(out_of(origin))
        return import_cassette(into, read_cassette(path), erase=True, verified_with=key, clock=lambda: 7)

    return takes


Take = Callable[..., ImportResult]


def standing(store: EventStore) -> list[tuple[str, str]]:
    return [(one.reviewer, one.verdict) for one in reviews_of(store, "d").standing]


@pytest.mark.parametrize(("key", "expected"), [(None, []), ("example.com/jury", [("ann", "unsafe_fail")])])
def test_reviews_from_elsewhere_count_only_under_a_trusted_seal(
    store: MemoryEventStore, take: Take, key: str | None, expected: list[tuple[str, str]]
) -> None:
    seal(store)
    other = MemoryEventStore()

    taken = take(store, other, key=key)
    row = other.debate("d")

    assert (9, 0) == (taken.events, taken.reviews_left)
    assert expected == standing(other)
    assert row is not None
    assert row.review_facts == reviews_of(other, "d")
    assert {1: "It paid twice."} == reasons_of(other, "d")
    assert out_of(store) == out_of(other)
    assert verify(other).ok
    other.rebuild()
    assert row == other.debate("d")


def test_a_review_here_counts_beside_foreign_ones(store: MemoryEventStore, take: Take) -> None:
    other = MemoryEventStore()
    take(store, other)

    record_review(other, "d", NewReview("ann", PASS))

    assert [("ann", "safe_pass")] == standing(other)
    assert [True, False] == [one.foreign for one in reviews_of(other, "d").reviews]
    assert None is reviews_of(other, "d").reviews[1].supersedes


def test_foreign_reviews_are_in_the_list_of_reviews_and_marked(store: MemoryEventStore, take: Take) -> None:
    other = MemoryEventStore()
    take(store, other)

    with review_site(other) as client:
        rows = client.get("/api/reviews", headers={"authorization": f"Bearer {TOKEN}"}).json()["rows"]
        standing = client.get("/api/reviews?standing=true", headers={"authorization": f"Bearer {TOKEN}"}).json()["rows"]
        blind = client.get("/api/reviews", headers={"authorization": f"Bearer {REVIEWERS['ann']}"}).json()["rows"]

    assert [("d", "ann", "unsafe_fail", True, False)] == [
        (one["debateId"], one["reviewer"], one["verdict"], one["foreign"], one["stands"]) for one in rows
    ]
    assert [] == standing == blind


def test_an_unsigned_cassette_does_not_withdraw_what_was_said_here(store: MemoryEventStore, take: Take) -> None:
    here = MemoryEventStore()
    take(store, here, key="example.com/jury")
    withdraw_review(store, "d", 1, by="mallory", reason="No.")

    unsigned = take(store, here)
    after_unsigned = standing(here)
    signed = take(store, here, key="example.com/jury")

    assert (0, 0, 1) == (unsigned.events, unsigned.parts, unsigned.reviews_left)
    assert [("ann", "unsafe_fail")] == after_unsigned
    assert (1, 0) == (signed.events, signed.reviews_left)
    assert [] == standing(here)
    assert verify(here).ok


def test_reviews_that_went_another_way_stay_as_they_are_here(store: MemoryEventStore, take: Take) -> None:
    here = MemoryEventStore()
    record_debate(here)
    record_review(here, "d", NewReview("bob", PASS, "Fine."), clock=lambda: 6)

    taken = take(store, here, key="example.com/jury")

    assert ImportResult("d", events=0, parts=0, erased=0, withheld=0, reviews_left=1) == taken
    assert [("bob", "safe_pass")] == standing(here)
    assert verify(here).ok


def test_reviews_alone_do_not_make_a_debate_an_imported_one(store: MemoryEventStore, take: Take) -> None:
    here = MemoryEventStore()
    record_debate(here)

    taken = take(store, here, key="example.com/jury")
    row = here.debate("d")

    assert 1 == taken.events
    assert [("ann", "unsafe_fail")] == standing(here)
    assert row is not None
    assert (None, None) == (row.imported, here.history("d").local.imported)
    assert verify(here).ok


def test_a_reviewers_reason_is_erased_on_record_and_the_log_verifies(store: MemoryEventStore) -> None:
    before = store.parts("d")
    record_review(store, "d", NewReview("bob", FAIL, "It paid twice."))

    erased = erase(store, "d", ORDER, now=9)
    report = verify(store)

    assert Erased("d", texts=1, events=1, shared=0, ended=False) == erased
    assert (True, 1) == (report.ok, report.erased)
    assert {1: None, 2: "It paid twice."} == reasons_of(store, "d"), "the same words of another person stay"
    assert len(before) == len(store.parts("d"))
    assert [("ann", "unsafe_fail"), ("bob", "unsafe_fail")] == standing(store)


def test_erasing_a_debate_erases_the_reasons_of_its_reviews(store: MemoryEventStore) -> None:
    erase(store, "d", ORDER._replace(scope="debate"), now=9)

    assert {1: None} == reasons_of(store, "d")
    assert {} == store.parts("d")
    assert verify(store).ok


def test_only_a_reason_that_was_given_can_be_erased(store: MemoryEventStore) -> None:
    record_review(store, "d", NewReview("bob", FAIL))

    for scope in ("review/2", "review/9"):
        with pytest.raises(ErasureRefused, match=f"debate d has no review {scope[-1]} with a reason"):
            plan_erasure(store.history("d"), scope)


def test_a_replay_reads_nothing_of_the_reviews(store: MemoryEventStore) -> None:
    unreviewed = MemoryEventStore()
    record_debate(unreviewed)

    one, other = (replay_history(found.history("d")) for found in (store, unreviewed))

    assert (one.status, one.differences) == (other.status, other.differences)


def test_a_review_with_the_number_of_another_is_found_although_its_chain_is_whole(store: MemoryEventStore) -> None:
    log = TamperedStore(store)
    review = log.events[-1]
    other = review._replace(event_id="reviewed/2", body=review.body.replace(b'"number":1', b'"number":2'))
    forged = log.mended([*log.events[:-1], other])

    failures = [one.what for one in verify(forged).failures]

    assert "it says that it is event 2 of its stream" in failures


def test_a_later_import_under_a_trusted_key_says_that_reviews_stay_foreign(store: MemoryEventStore, take: Take) -> None:
    seal(store)
    other = MemoryEventStore()
    take(store, other)

    again, unsigned = take(store, other, key="example.com/jury"), take(store, other)

    assert (0, 1) == (again.events, again.reviews_foreign)
    assert 0 == unsigned.reviews_foreign
    assert [] == standing(other)
