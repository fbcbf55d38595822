"""A person names the item where it went wrong first: recorded, read again, refused where it cannot be meant."""

import json
from collections.abc import Iterator

import pytest

from jury_events import HumanReviewed, Verdict, decode_review, review_stream
from jury_judge import NewReview, ReviewRefused, record_review, reviews_of
from jury_replay import ErasureOrder, erase
from jury_replay.verify import verify
from jury_store import EventStore, MemoryEventStore, open_store
from jury_views import event_lines
from support.debate_builder import DebateBuilder
from support.evidence_debate import EvidenceDebate
from support.pages import keep

pytestmark = pytest.mark.full_for("postgresql")

PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
DEBATE = "d1"


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """A store of each kind with a debate under prompts 2, whose items are 1 to 8."""
    if request.param == "memory":
        memory = MemoryEventStore()
        keep(memory, EvidenceDebate())
        yield memory
        return
    name = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    opened = open_store(request.getfixturevalue(name), write=True)
    keep(opened, EvidenceDebate())
    yield opened
    opened.close()


def naming(item: int | None, verdict: Verdict = FAIL, reviewer: str = "ann") -> NewReview:
    return NewReview(reviewer, verdict, decisive_item=item)


def test_the_item_is_in_the_log_in_the_lists_and_verified(store: EventStore) -> None:
    before = verify(store, deep=True).failures  # its model calls are not stored
    record_review(store, DEBATE, naming(5))
    record_review(store, DEBATE, naming(None, PASS, "bob"))
    row = store.debate(DEBATE)
    bodies = [json.loads(one.body) for one in store.read_stream(review_stream(DEBATE))]

    assert row is not None
    assert [5, None] == [one.decisive_item for one in row.reviews]
    assert row.review_facts == reviews_of(store, DEBATE)
    assert [5, "left out"] == [one.get("decisive_item", "left out") for one in bodies]
    assert before == verify(store, deep=True).failures
    assert store.rebuild() > 0
    assert row == store.debate(DEBATE)


def test_another_item_is_another_review_and_the_same_one_is_none(store: EventStore) -> None:
    first, again, other = (record_review(store, DEBATE, naming(item)) for item in (5, 5, 3))

    assert first == again
    assert (1, 3) == (other.supersedes, other.decisive_item)


@pytest.fixture
def one() -> MemoryEventStore:
    store = MemoryEventStore()
    keep(store, EvidenceDebate())
    return store


@pytest.mark.parametrize("item", [0, 9, -1, 1_000_000, 10**9])
def test_an_item_that_the_debate_has_not_is_refused(one: MemoryEventStore, item: int) -> None:
    with pytest.raises(ReviewRefused, match=rf"has no item {item}; its last item is 8"):
        record_review(one, DEBATE, naming(item))

    assert () == reviews_of(one, DEBATE).reviews


def test_a_pass_has_no_decisive_item(one: MemoryEventStore) -> None:
    with pytest.raises(ReviewRefused, match="a pass has no decisive item"):
        record_review(one, DEBATE, naming(5, PASS))
    with pytest.raises(ValueError, match="a pass has no decisive item"):
        HumanReviewed(
            reviewer="ann",
            verdict=PASS,
            reason=None,
            blind=False,
            sampled=False,
            minutes=None,
            supersedes=None,
            number=1,
            decisive_item=5,
        )


def test_a_verdict_that_is_not_sure_may_have_one(one: MemoryEventStore) -> None:
    assert 5 == record_review(one, DEBATE, naming(5, REVIEW)).decisive_item


def test_prompts_that_number_no_items_have_none() -> None:
    store = MemoryEventStore()
    keep(store, DebateBuilder().phase_1().round_1().judged())
    (row,) = store.list_debates()

    with pytest.raises(ReviewRefused, match=r"number no items \(prompts 1\)"):
        record_review(store, row.debate_id, naming(1))


def test_of_an_erased_case_no_item_can_be_named(one: MemoryEventStore) -> None:
    erase(one, DEBATE, ErasureOrder("dpo@example.com", "request 17", "debate"), now=9)

    with pytest.raises(ReviewRefused, match="its case was erased"):
        record_review(one, DEBATE, naming(5))


def test_the_events_say_it_in_both_languages(one: MemoryEventStore) -> None:
    record_review(one, DEBATE, naming(5)._replace(blind=True))
    (stored,) = one.read_stream(review_stream(DEBATE))
    said = [event_lines([stored], language=language)[0].said for language in ("en", "ja")]

    assert [
        "unsafe_fail by ann, blind, decisive item 5",
        "unsafe_fail（ann）、陪審団の意見を見ずに判定、決め手の項目5",
    ] == said
    assert isinstance(decode_review(stored), HumanReviewed)
