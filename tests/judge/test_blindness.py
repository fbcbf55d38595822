"""Blindness ends with the first review of the case, over forks, repeats and runs."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import Case, Verdict
from jury_judge import NewReview, Records, ReviewRefused, record_review, withdraw_review
from jury_replay import ErasureOrder, erase, quarantine
from jury_store import EventStore, MemoryEventStore, open_store
from support.debate_harness import a_case
from support.reviewed import judged_debate

pytestmark = pytest.mark.full_for("postgresql")

PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        yield MemoryEventStore()
        return
    opened = open_store(request.getfixturevalue("postgres_url"), write=True)
    yield opened
    opened.close()


def case(case_id: str = "refund", said: str = "Refunded.") -> Case:
    made = a_case(case_id)
    scenario = made.scenarios[0]
    return made.changed(scenarios=(scenario.changed(execution=scenario.execution.changed(response=said)),))


def judged(store: EventStore, debate_id: str, of: Case | None = None, text: bytes | None = None) -> None:
    """A finished debate over a case, with salts of its own."""
    of = of or case()
    text = of.to_part() if text is None else text
    seed = store.last_position() + 1
    judged_debate(store, debate_id, seed=seed, case_id=of.case_id, run_id=None, text=text.decode())


def blind(store: EventStore, debate_id: str, reviewer: str = "ann", reason: str = "") -> str | None:
    """Record a blind review; gives the debate of the same case that the person reviewed before, where it is refused."""
    try:
        record_review(store, debate_id, NewReview(reviewer, PASS, reason, blind=True))
    except ReviewRefused as refused:
        found = re.search(rf"{reviewer} has reviewed (\S+), a debate of the same case", str(refused))
        return debate_id if found is None else found[1]
    return None


def test_whoever_reviewed_a_fork_cannot_review_its_origin_blind(store: EventStore) -> None:
    judged(store, "first~refund")
    judged(store, "first~fork")

    assert [None, "first~fork"] == [blind(store, name) for name in ("first~fork", "first~refund")]
    record_review(store, "first~refund", NewReview("ann", FAIL))
    assert blind(store, "first~refund", "bob") is None
    assert [("ann", False), ("bob", True)] == [
        (one.reviewer, one.blind) for one in store.history("first~refund").reviews.reviews
    ]


def test_a_withdrawn_review_and_one_of_a_debate_in_quarantine_end_blindness_too(store: EventStore) -> None:
    for name in ("a", "b", "c"):
        judged(store, name)
    blind(store, "b")
    withdraw_review(store, "b", 1, by="ann")
    blind(store, "c", "bob")
    quarantine(store, "c", by="lead", reason="doubtful")

    assert {"ann": "b", "bob": "c", "cho": None} == {name: blind(store, "a", name) for name in ("ann", "bob", "cho")}


def test_of_an_erased_case_the_id_alone_says_what_it_was(store: EventStore) -> None:
    judged(store, "a")
    judged(store, "b", case(said="Refused."))
    blind(store, "a")
    erase(store, "a", ErasureOrder("dpo@example.com", "request 17"), now=9)

    assert "a" == blind(store, "b")


async def test_the_queue_marks_what_a_person_cannot_review_blind(sqlite_url: str) -> None:
    with closing(open_store(sqlite_url, write=True)) as store:
        for name, of in {"a": case(), "b": case(), "c": case("other")}.items():
            judged(store, name, of)
        blind(store, "a")

    async with Records(sqlite_url) as records:
        queues = {person: await records.review_queue(person, reviews=2) for person in ("ann", "bob")}

    assert {"ann": {"b": "a", "c": None}, "bob": {"a": None, "b": None, "c": None}} == {
        person: {one.row.debate_id: one.partial for one in queue} for person, queue in queues.items()
    }


OTHERS = {
    "another reading": case().changed(reading=3).to_part(),
    "another reading with other words": case(said="Read otherwise.").changed(reading=3).to_part(),
    "a text of a newer version": b"of a newer version",
    "other fetched records": a_case("refund").changed(scenarios=case().scenarios, artifact_summary=None).to_part(),
    "other words": case(said="Refused.").to_part(),
    "another id": case("other").to_part(),
}


def test_another_reading_or_a_text_that_cannot_be_read_is_the_same_case_and_other_words_are_not() -> None:
    found = {}
    for name, text in OTHERS.items():
        store = MemoryEventStore()
        judged(store, "a")
        judged(store, "b", case("other") if name == "another id" else None, text)
        blind(store, "a")
        found[name] = blind(store, "b")

    assert dict(zip(OTHERS, ("a", "a", "a", "a", None, None), strict=True)) == found


_STEPS = st.lists(
    st.tuples(st.sampled_from(["review", "withdraw"]), st.sampled_from("abcd"), st.sampled_from(["ann", "bob"])),
    max_size=8,
)


@given(_STEPS)
def test_a_blind_review_is_recorded_exactly_before_the_persons_first_review_of_the_case(
    steps: list[tuple[str, str, str]],
) -> None:
    store = MemoryEventStore()
    cases = {"a": "one", "b": "one", "c": "two", "d": "two"}
    for name, case_id in cases.items():
        judged(store, name, case(case_id))
    seen: set[tuple[str, str]] = set()
    for number, (what, name, person) in enumerate(steps):
        if what == "withdraw":
            mine = [one.number for one in store.history(name).reviews.reviews if one.reviewer == person]
            for last in mine[-1:]:
                withdraw_review(store, name, last, by=person)
            continue
        expected = (cases[name], person) not in seen
        found = blind(store, name, person, f"step {number}") is None
        seen.add((cases[name], person))
        record_review(store, name, NewReview(person, PASS, f"after step {number}"))

        assert expected == found
