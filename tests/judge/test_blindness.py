"""Blindness ends with the first review of the case, over forks, repeats and runs."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import Case, Verdict
from jury_judge import NewReview, ReviewRefused, record_review, review_queue, withdraw_review
from jury_judge.reviews.blindness import is_same_text, partial_items, reviewed_same_case
from jury_replay import ErasureOrder, erase
from jury_replay.quarantine import quarantine
from jury_store import EventStore, MemoryEventStore, open_store
from support.debate_harness import a_case
from support.reviewed import judged_debate

pytestmark = pytest.mark.full_for("postgresql")

PASS, FAIL = Verdict.SAFE_PASS, Verdict.UNSAFE_FAIL


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield MemoryEventStore()
        return
    name = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    opened = open_store(request.getfixturevalue(name), write=True)
    yield opened
    opened.close()


def case(case_id: str = "refund", said: str = "Refunded.") -> Case:
    made = a_case(case_id)
    scenario = made.scenarios[0]
    return made.changed(scenarios=(scenario.changed(execution=scenario.execution.changed(response=said)),))


def judged(store: EventStore, debate_id: str, of: Case | None = None) -> None:
    """A finished debate over a case, with salts of its own."""
    of = of or case()
    seed = store.last_position() + 1
    judged_debate(store, debate_id, seed=seed, case_id=of.case_id, run_id=None, text=of.to_part().decode())


def blind(store: EventStore, debate_id: str, reviewer: str = "ann") -> None:
    record_review(store, debate_id, NewReview(reviewer, PASS, blind=True))


def test_whoever_reviewed_a_fork_cannot_review_its_origin_blind(store: EventStore) -> None:
    judged(store, "first~refund")
    judged(store, "first~fork")
    blind(store, "first~fork")

    assert "first~fork" == reviewed_same_case(store, "first~refund", "ann")
    with pytest.raises(ReviewRefused, match="ann has reviewed first~fork, a debate of the same case"):
        blind(store, "first~refund")
    record_review(store, "first~refund", NewReview("ann", FAIL))
    blind(store, "first~refund", "bob")
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

    found = {name: reviewed_same_case(store, "a", name) for name in ("ann", "bob", "cho")}

    assert {"ann": "b", "bob": "c", "cho": None} == found


def test_another_case_under_the_same_id_is_another_case(store: EventStore) -> None:
    judged(store, "a")
    judged(store, "b", case(said="Refused."))
    judged(store, "c", case("other"))
    blind(store, "a")

    assert [None, None] == [reviewed_same_case(store, one, "ann") for one in ("b", "c")]
    blind(store, "b")
    blind(store, "c")


def test_of_an_erased_case_the_id_alone_says_what_it_was(store: EventStore) -> None:
    judged(store, "a")
    judged(store, "b", case(said="Refused."))
    blind(store, "a")
    erase(store, "a", ErasureOrder("dpo@example.com", "request 17"), now=9)

    assert "a" == reviewed_same_case(store, "b", "ann")


def test_the_queue_marks_what_a_person_cannot_review_blind(store: EventStore) -> None:
    for name, of in {"a": case(), "b": case(), "c": case("other")}.items():
        judged(store, name, of)
    blind(store, "a")
    marked = {
        person: {
            one.row.debate_id: one.partial
            for one in partial_items(store, person, review_queue(store, person, reviews=2))
        }
        for person in ("ann", "bob")
    }

    assert {"ann": {"b": "a", "c": None}, "bob": {"a": None, "b": None, "c": None}} == marked


def test_another_reading_or_other_fetched_records_are_the_same_case() -> None:
    base = case()
    text = base.to_part()

    assert is_same_text(text, base.changed(reading=3).to_part())
    assert is_same_text(text, base.changed(reading=3, scenarios=case(said="Read otherwise.").scenarios).to_part())
    assert is_same_text(text, None)
    assert is_same_text(None, text)
    assert is_same_text(text, b"of a newer version")
    assert not is_same_text(text, case(said="Refused.").to_part())


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
        try:
            record_review(store, name, NewReview(person, PASS, f"step {number}", blind=True))
            found = True
        except ReviewRefused:
            found = False
        seen.add((cases[name], person))
        if not expected:
            record_review(store, name, NewReview(person, PASS, f"step {number}"))

        assert expected == found
