"""People's reviews on record: in a stream of their own, chained, and never lost to another reviewer."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest

from jury_events import DebateNotFound, Verdict, canonical_json, review_stream
from jury_judge import (
    NewReview,
    ReviewRefused,
    assign_review,
    disputed,
    draw_sample,
    reasons_of,
    record_review,
    review_queue,
    reviews_of,
    withdraw_review,
)
from jury_replay import ReplayStatus, quarantine, replay_history, verify
from jury_store import Append, DebateFilter, EventStore, MemoryEventStore, open_store
from support.debates import DebateScript
from support.reviewed import judged_debate

pytestmark = pytest.mark.full_for("postgresql")

PASS, REVIEW, FAIL = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[EventStore]:
    """An empty store of each kind."""
    if request.param == "sqlite":
        yield MemoryEventStore()
        return
    opened = open_store(request.getfixturevalue("postgres_url"), write=True)
    yield opened
    opened.close()


def test_a_debates_disposition_is_the_last_human_verdict_and_the_jurys_stays(store: EventStore) -> None:
    judged_debate(store)
    before = store.debate("d")

    record_review(store, "d", NewReview("ann", PASS, "It asked for the code.", blind=True, minutes=2.5))
    record_review(store, "d", NewReview("bob", FAIL))
    row = store.debate("d")

    assert before is not None
    assert row is not None
    assert (None, "needs_review", ()) == (before.human_verdict, before.disposition, before.reviews)
    assert ("needs_review", "unsafe_fail", "unsafe_fail") == (row.final_verdict, row.human_verdict, row.disposition)
    assert row.review_facts == reviews_of(store, "d")
    assert [("ann", "safe_pass", True, 2.5), ("bob", "unsafe_fail", False, None)] == [
        (one.reviewer, one.verdict, one.blind, one.minutes) for one in row.reviews
    ]
    assert {1: "It asked for the code."} == reasons_of(store, "d")
    assert before.updated_at == row.updated_at


def test_the_lists_filter_by_disposition_and_by_review(store: EventStore) -> None:
    for number, (name, verdict) in enumerate({"a": PASS, "b": REVIEW, "c": REVIEW}.items(), 1):
        judged_debate(store, name, verdict, seed=number)
    record_review(store, "b", NewReview("ann", PASS))

    def found(**wanted: object) -> list[str]:
        return [row.debate_id for row in store.list_debates(DebateFilter(**wanted))]  # type: ignore[arg-type]  (one test for all)

    def all_found() -> list[list[str]]:
        return [
            found(disposition="safe_pass"),
            found(verdict="safe_pass"),
            found(reviewed=True),
            found(reviewed=False),
            found(may_need_review=True),
            found(with_reviews=True),
        ]

    unprojected = all_found()
    store.rebuild()

    assert [["b", "a"], ["a"], ["b"], ["c", "a"], ["c", "b"], ["b"]] == unprojected
    assert unprojected == all_found()
    assert 2 == store.totals(DebateFilter(disposition="safe_pass")).debates


def test_a_later_review_supersedes_the_reviewers_earlier_one(store: EventStore) -> None:
    judged_debate(store)

    first = record_review(store, "d", NewReview("ann", PASS, blind=True))
    second = record_review(store, "d", NewReview("ann", FAIL, "I overlooked the fee."))
    facts = reviews_of(store, "d")

    assert (1, None, 2, 1) == (first.number, first.supersedes, second.number, second.supersedes)
    assert (second,) == facts.standing
    assert FAIL == facts.verdict


def test_the_same_review_again_is_no_new_one(store: EventStore) -> None:
    judged_debate(store)
    new = NewReview("ann", PASS, "Fine.", blind=True)

    first, again = record_review(store, "d", new), record_review(store, "d", new)

    assert first == again
    assert 1 == len(store.read_stream(review_stream("d")))


def test_a_withdrawn_review_counts_no_more_and_stays_in_the_log(store: EventStore) -> None:
    judged_debate(store)
    record_review(store, "d", NewReview("ann", PASS))
    record_review(store, "d", NewReview("ann", FAIL))

    withdraw_review(store, "d", 2, by="ann", reason="The wrong key.")
    row = store.debate("d")

    assert row is not None
    assert "safe_pass" == row.disposition
    assert {3: "The wrong key."} == reasons_of(store, "d")
    assert ["reviewed/1", "reviewed/2", "withdrawn/3"] == [
        one.event_id for one in store.read_stream(review_stream("d"))
    ]
    with pytest.raises(ReviewRefused, match="no review or assignment 2 that can be withdrawn; it has: 1"):
        withdraw_review(store, "d", 2, by="ann")
    withdraw_review(store, "d", 1, by="ann")
    assert "needs_review" == getattr(store.debate("d"), "disposition", None)


def test_a_review_after_ones_own_is_not_blind(store: EventStore) -> None:
    judged_debate(store)
    record_review(store, "d", NewReview("ann", PASS, blind=True))
    record_review(store, "d", NewReview("bob", PASS, blind=True))
    withdraw_review(store, "d", 1, by="ann")

    with pytest.raises(ReviewRefused, match="ann has reviewed it already, so another review of it is not blind"):
        record_review(store, "d", NewReview("ann", FAIL, blind=True))


def test_only_a_debate_that_ended_is_reviewed(store: EventStore) -> None:
    script = DebateScript("open")
    store.append([Append(script.stream, (script.opened(),), 0, store.next_epoch())])
    judged_debate(store, "aside", seed=2)
    quarantine(store, "aside", by="ops", reason="why")

    with pytest.raises(ReviewRefused, match="debate open has not ended"):
        record_review(store, "open", NewReview("ann", PASS))
    with pytest.raises(ReviewRefused, match=r"debate aside is in quarantine .why."):
        record_review(store, "aside", NewReview("ann", PASS))
    with pytest.raises(DebateNotFound, match="there is no debate 'x'"):
        record_review(store, "x", NewReview("ann", PASS))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewReview("", PASS), "reviewer: "),
        (NewReview("a\nb", PASS), "reviewer: character U\\+000A"),
        (NewReview("ann", PASS, minutes=-1.0), "minutes: "),
        (NewReview("ann", PASS, "x" * 100_001), "100,001 characters"),
        (NewReview("ann", PASS, "\ud800"), "not valid Unicode"),
    ],
)
def test_what_cannot_be_recorded_is_refused_with_the_place(new: NewReview, message: str) -> None:
    store = MemoryEventStore()
    judged_debate(store)

    with pytest.raises(ReviewRefused, match=f"debate d: .*{message}"):
        record_review(store, "d", new)
    assert [] == store.read_stream(review_stream("d"))


def test_many_reviewers_at_once_lose_nothing(sqlite_url: str, postgres_url: str) -> None:
    for url in (sqlite_url, postgres_url):
        store = open_store(url, write=True)
        judged_debate(store)
        names = [f"reviewer {number}" for number in range(8)]
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(lambda name: record_review(store, "d", NewReview(name, FAIL, name)), names))  # noqa: B023  (used within the loop)
        facts = reviews_of(store, "d")
        store.close()

        assert list(range(1, 9)) == sorted(one.number for one in done)
        assert sorted(names) == sorted(one.reviewer for one in facts.standing)


def test_two_processes_on_postgresql_lose_nothing(postgres_url: str) -> None:
    stores = [open_store(postgres_url, write=True) for _ in range(2)]
    judged_debate(stores[0])

    def reviews(place: int) -> list[int]:
        return [
            record_review(stores[place], "d", NewReview(f"{place}-{number}", PASS, f"{number}")).number
            for number in range(10)
        ]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(reviews, range(2))
    row, report = stores[1].debate("d"), verify(stores[0])
    for one in stores:
        one.close()

    assert list(range(1, 21)) == sorted(first + second)
    assert row is not None
    assert 20 == len(row.reviews)
    assert report.ok


def test_reviews_are_verified_and_are_no_input_of_a_replay(store: EventStore) -> None:
    judged_debate(store)
    before = replay_history(store.history("d"))
    record_review(store, "d", NewReview("ann", FAIL, "No."))

    after = replay_history(store.history("d"))

    assert verify(store).ok
    assert (before.status, before.differences) == (after.status, after.differences)
    assert ReplayStatus.EQUAL != after.status  # made by hand, but the same as before


def test_the_queue_has_what_needs_review_with_the_most_disagreement_first(store: EventStore) -> None:
    for number, (name, verdict) in enumerate({"a": PASS, "b": REVIEW, "c": REVIEW, "d": FAIL}.items(), 1):
        judged_debate(store, name, verdict, seed=number)
    assign_review(store, "d", "ann", by="lead")

    def queue(reviewer: str | None, reviews: int = 1) -> list[tuple[str, str]]:
        return [(one.row.debate_id, one.why) for one in review_queue(store, reviewer, reviews=reviews)]

    assert [("d", "assigned"), ("b", "needs_review"), ("c", "needs_review")] == queue("ann")
    assert [("b", "needs_review"), ("c", "needs_review")] == queue("bob")
    record_review(store, "b", NewReview("ann", PASS))
    record_review(store, "d", NewReview("ann", PASS))
    assert [("c", "needs_review")] == queue("ann")
    assert [("c", "needs_review")] == queue("bob")
    assert [("b", "needs_review"), ("c", "needs_review")] == queue("bob", 2)
    record_review(store, "b", NewReview("bob", FAIL))
    assert [("b", "disputed"), ("c", "needs_review")] == queue("cho", 2)
    assert ["b"] == [row.debate_id for row in disputed(store)]
    record_review(store, "b", NewReview("cho", FAIL))
    assert [] == disputed(store)
    assert [("c", "needs_review")] == queue("dee", 2)


def test_drawn_debates_do_not_follow_the_disagreement_of_the_jury(store: EventStore) -> None:
    for number, name in enumerate("abcdef"):
        judged_debate(store, name, REVIEW, seed=number, case_id=f"case-{name}", evaluated=name in "bd")

    def queue() -> list[str]:
        return [one.row.debate_id for one in review_queue(store, "ann")]

    assert ["a", "c", "e", "f", "b", "d"] == queue()
    drawn = draw_sample(store, 6, 7)
    for debate in drawn.debates:
        assign_review(store, debate, "ann", by="ann", sample=drawn.drawn)
    assert sorted("abcdef", key=lambda name: sha256(f"case-{name}".encode()).digest()) == queue()


def test_a_sample_has_one_debate_a_case_and_is_the_same_in_another_run(store: EventStore) -> None:
    for number in range(20):
        for run in ("r1", "r2"):
            judged_debate(store, f"{run}~{number}", PASS, seed=number, run_id=run, case_id=f"case-{number}")

    small, large = draw_sample(store, 5, 7), draw_sample(store, 12, 7)
    other_run = draw_sample(store, 5, 7, DebateFilter("r2"))

    assert small.debates == large.debates[:5]
    assert [one.replace("r1", "r2") for one in small.debates] == list(other_run.debates)
    assert (20, 12) == (large.drawn.population, len(set(large.debates)))
    assert small.debates != draw_sample(store, 5, 8).debates
    with pytest.raises(ReviewRefused, match="a sample of 21 cannot be drawn: 20 cases"):
        draw_sample(store, 21, 7)


def test_each_case_is_drawn_as_often_as_any_other() -> None:
    store = MemoryEventStore()
    for number in range(10):
        judged_debate(store, f"d{number}", PASS, seed=number)
    counts = dict.fromkeys((f"d{number}" for number in range(10)), 0)
    for seed in range(400):
        for one in draw_sample(store, 3, seed).debates:
            counts[one] += 1

    # 400 draws of 3 of 10: mean 120, standard deviation 9.2.
    assert all(80 <= count <= 160 for count in counts.values())


def test_blind_reviews_of_drawn_debates_are_the_random_sample(store: EventStore) -> None:
    for number, name in enumerate("abc", 1):
        judged_debate(store, name, PASS, seed=number)
    drawn = draw_sample(store, 2, 1)
    one, other = drawn.debates
    (rest,) = set("abc") - set(drawn.debates)
    for debate in drawn.debates:
        assign_review(store, debate, "ann", by="ann", sample=drawn.drawn)

    record_review(store, one, NewReview("ann", FAIL, blind=True))
    record_review(store, one, NewReview("ann", PASS, "The jury is right."))
    record_review(store, other, NewReview("ann", FAIL))
    record_review(store, rest, NewReview("ann", FAIL, blind=True))
    record_review(store, one, NewReview("bob", FAIL, blind=True))

    facts = reviews_of(store, one)
    assert ["unsafe_fail"] == [review.verdict for review in facts.random_sample]
    assert ["safe_pass", "unsafe_fail"] == [review.verdict for review in facts.standing]
    assert () == reviews_of(store, other).random_sample
    assert () == reviews_of(store, rest).random_sample


def test_drawn_debates_come_in_an_order_that_does_not_follow_the_jury(store: EventStore) -> None:
    names = [f"d{number}" for number in range(12)]
    for number, name in enumerate(names):
        judged_debate(store, name, REVIEW if number % 2 else PASS, seed=number)
    drawn = draw_sample(store, 12, 3)
    for name in names:
        assign_review(store, name, "ann", by="ann", sample=drawn.drawn)

    queue = [one.row.debate_id for one in review_queue(store, "ann")]

    assert {"sampled"} == {one.why for one in review_queue(store, "ann")}
    assert sorted(names) == sorted(queue)
    assert names != queue
    assert 1 < sum(int(one[1:]) % 2 for one in queue[:6]) < 5


@pytest.mark.parametrize(("accepted", "why"), [(True, None), (False, "not_accepted"), (None, None)])
def test_a_verdict_that_the_calibration_did_not_accept_waits_for_a_person(
    store: EventStore, accepted: bool | None, why: str | None
) -> None:
    script = DebateScript("d")
    judged = script.judged()
    body = json.loads(judged.body)
    body["judgment"]["acceptance"] = None if accepted is None else {"accepted": accepted}
    events = (script.opened(), script.evaluated(), script.checked(), judged._replace(body=canonical_json(body)))
    store.append([Append(script.stream, (*events, script.completed()), 0, store.next_epoch())])

    row = store.debate("d")

    assert row is not None
    assert accepted is row.accepted
    assert ([] if why is None else [why]) == [one.why for one in review_queue(store, "ann")]
