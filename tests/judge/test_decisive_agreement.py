"""Reviewers and juries that name the same item are counted."""

import pytest
from starlette.testclient import TestClient

from jury_events import Verdict
from jury_judge import NewReview, record_review, review_agreement
from jury_judge.reviews.decisive_agreement import DecisiveAgreement, SharedItems
from jury_store import MemoryEventStore
from support.evidence_debate import TABLE, EvidenceDebate
from support.pages import keep
from support.review_site import TOKEN, Visit, review_site

FAIL = Verdict.UNSAFE_FAIL


@pytest.fixture
def store() -> MemoryEventStore:
    """A debate whose jury names item 5 twice and item 3 once."""
    store = MemoryEventStore()
    keep(store, EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    return store


def named(store: MemoryEventStore, *items: int | None) -> DecisiveAgreement:
    for reviewer, item in zip("abcdef", items, strict=False):
        record_review(store, "d1", NewReview(reviewer, FAIL, decisive_item=item))
    return review_agreement(store).decisive


def test_pairs_of_reviewers_and_the_jury_are_compared(store: MemoryEventStore) -> None:
    assert DecisiveAgreement(SharedItems(1, 3), SharedItems(2, 3)) == named(store, 5, 5, 3, None)


def test_the_first_verdict_counts(store: MemoryEventStore) -> None:
    named(store, 3, 5)
    record_review(store, "d1", NewReview("a", FAIL, "b convinced me", decisive_item=5))

    assert DecisiveAgreement(SharedItems(0, 1), SharedItems(1, 2)) == review_agreement(store).decisive


def test_a_jury_without_one_item_is_not_compared() -> None:
    store = MemoryEventStore()
    keep(store, EvidenceDebate(TABLE, TABLE["gemini"][0]))  # type: ignore[arg-type]

    assert DecisiveAgreement(SharedItems(0, 0), SharedItems(0, 0)) == named(store, 5)


def test_reviews_without_items_have_nothing_to_compare(store: MemoryEventStore) -> None:
    assert DecisiveAgreement(SharedItems(0, 0), SharedItems(0, 0)) == named(store, None, None)


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                "Same decisive item: 1 of 3 pairs of reviewers that name one.",
                "Same decisive item as the jury: 2 of 3 reviews that name one.",
            ],
        ),
        (
            "ja",
            [
                "同じ決め手の項目: 両者が指定したレビュアーの3組中1組。",
                "陪審員と同じ決め手の項目: 指定した3件のレビュー中2件。",
            ],
        ),
    ],
)
def test_the_page_of_reviewers_has_it(store: MemoryEventStore, language: str, lines: list[str]) -> None:
    named(store, 5, 5, 3)
    client: TestClient
    with review_site(store) as client:
        page = Visit(client, TOKEN).get(f"/reviewers?lang={language}")

    assert lines == page.all(".same-item")
