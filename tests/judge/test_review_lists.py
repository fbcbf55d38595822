"""What waits for people, random samples of it, and what their verdicts come to: agreement and labels."""

import json
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judge.test_reviews import ERASURE, naming
from jury_analysis import check_labels
from jury_cases import VerdictWords
from jury_events import Case, ItemSource, ReviewSample, SettingError, Verdict, canonical_json
from jury_judge import (
    NewReview,
    ReviewRefused,
    disputed,
    draw_by_verdict,
    draw_sample,
    export_tables,
    later_labels,
    recorded_draw,
    review_agreement,
    review_labels,
    review_queue,
)
from jury_replay import DebateSelection, erase
from jury_store import Append, DebateFilter, EventStore, MemoryEventStore
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.debates import DebateScript
from support.each_row import each_row
from support.evidence_debate import TABLE, EvidenceDebate, a_cited_case
from support.pages import keep
from support.recorded_reviews import assign_review, record_review, reviews_of, withdraw_review
from support.refusals import RefusalTables
from support.review_site import TOKEN, Visit, review_site
from support.reviewed import judged_debate
from support.scaled_debates import a_right_answer, a_scaled_debate
from support.stored_debates import store_debate

PASS, REVIEW, FAIL = Verdict


@pytest.fixture
def memory() -> MemoryEventStore:
    return MemoryEventStore()


def queue(store: EventStore, reviewer: str | None = "ann", reviews: int = 1) -> list[tuple[str, str]]:
    return [(one.row.debate_id, one.why) for one in review_queue(store, reviewer, reviews=reviews)]


def test_the_queue_follows_what_people_did(any_store: EventStore) -> None:
    store = any_store
    for number, (name, verdict) in enumerate({"a": PASS, "b": REVIEW, "c": REVIEW, "d": FAIL}.items(), 1):
        judged_debate(store, name, verdict, seed=number)
    assign_review(store, "d", "ann", by="lead")

    assert [("d", "assigned"), ("b", "needs_review"), ("c", "needs_review")] == queue(store)
    record_review(store, "b", NewReview("ann", PASS))
    record_review(store, "d", NewReview("ann", PASS))
    assert [("c", "needs_review")] == queue(store) == queue(store, "bob")
    assert [("b", "needs_review"), ("c", "needs_review")] == queue(store, "bob", 2)
    record_review(store, "b", NewReview("bob", FAIL))
    assert [("b", "disputed"), ("c", "needs_review")] == queue(store, "cho", 2)
    assert ["b"] == [row.debate_id for row in disputed(store)]
    record_review(store, "b", NewReview("cho", FAIL))
    assert ([], [("c", "needs_review")]) == (disputed(store), queue(store, "dee", 2))
    assert [["b"], ["a", "d"]] == [
        sorted(row.debate_id for row in store.list_debates(DebateFilter(disposition=one)))
        for one in ("unsafe_fail", "safe_pass")
    ]


def test_the_most_disagreement_comes_first_by_labels_where_there_are_some(memory: MemoryEventStore) -> None:
    words = {"bad": "fail", "weak": "review", "fair": "review", "good": "pass"}
    labels = [{"id": one, "outcome": outcome, "meaning": f"It is {one}."} for one, outcome in words.items()]
    for name, votes in {"a": ("weak", "weak", "good"), "b": ("weak", "fair", "good")}.items():
        debate = a_scaled_debate(tuple(Says(one) for one in votes), scale={"name": "four", "labels": labels})
        store_debate(memory, debate, name)
    judged_debate(memory, "plain", REVIEW)

    assert [("b", "review", 2 / 3), ("a", "review", 1 / 3), ("plain", "needs_review", 0.0)] == [
        (one.row.debate_id, one.reason, pytest.approx(one.disagreement)) for one in review_queue(memory)
    ]


@each_row(("accepted", "why"), [(True, None), (False, "not_accepted"), (None, None)])
def test_a_verdict_that_the_calibration_did_not_accept_waits_for_a_person(
    accepted: bool | None, why: str | None
) -> None:
    store, script = MemoryEventStore(), DebateScript("d")
    judged = script.judged()
    body = json.loads(judged.body)
    body["judgment"]["acceptance"] = None if accepted is None else {"accepted": accepted}
    events = (script.opened(), script.evaluated(), script.checked(), judged._replace(body=canonical_json(body)))
    store.append([Append(script.stream, (*events, script.completed()), 0, store.next_epoch())])

    assert ([] if why is None else [("d", why)]) == queue(store)


# Random samples.


def test_a_sample_has_one_debate_a_case_and_is_the_same_in_another_run(any_store: EventStore) -> None:
    for number in range(20):
        for run in ("r1", "r2"):
            judged_debate(any_store, f"{run}~{number}", PASS, seed=number, run_id=run, case_id=f"case-{number}")

    small, large = draw_sample(any_store, 5, 7), draw_sample(any_store, 12, 7)
    other_run = draw_sample(any_store, 5, 7, DebateFilter("r2"))

    assert small.debates == large.debates[:5]
    assert [one.replace("r1", "r2") for one in small.debates] == list(other_run.debates)
    assert (20, 12) == (large.drawn.population, len(set(large.debates)))
    assert small.debates != draw_sample(any_store, 5, 8).debates
    with pytest.raises(ReviewRefused, match="a sample of 21 cannot be drawn: 20 cases"):
        draw_sample(any_store, 21, 7)


def test_a_draw_by_verdict_has_as_many_of_each_and_is_known_again(any_store: EventStore) -> None:
    verdicts = [FAIL] * 2 + [REVIEW] * 6 + [PASS] * 12
    for number, verdict in enumerate(verdicts):
        judged_debate(any_store, f"r1~{number:02}", verdict, seed=number, run_id="r1", case_id=f"c{number:02}")
    r1 = DebateFilter("r1")
    nothing = recorded_draw(any_store, r1)
    samples = draw_by_verdict(any_store, 12, 7, r1)
    for one in samples:
        for debate in one.debates:
            assign_review(any_store, debate, "ann", by="ann", sample=one.drawn)
    found = recorded_draw(any_store, r1)
    withdraw_review(any_store, samples[-1].debates[0], 1, by="ann")
    after_withdrawal = recorded_draw(any_store, r1)
    judged_debate(any_store, "r1~20", PASS, seed=20, run_id="r1", case_id="c20")
    grown = recorded_draw(any_store, r1)

    assert [(FAIL, 2, 2), (REVIEW, 6, 5), (PASS, 12, 5)] == [
        (one.drawn.verdict, one.drawn.population, one.drawn.size) for one in samples
    ]
    assert nothing is None
    assert found is not None
    assert {(FAIL, 2, 2), (REVIEW, 6, 5), (PASS, 12, 5)} == {
        (one.verdict, len(one.cases), len(one.drawn)) for one in found.strata
    }
    assert found == after_withdrawal  # a case that was drawn stays drawn
    assert grown is not None
    # The passes were drawn from 12 cases; of the 13 that there are now nothing was drawn.
    assert (1, {0, 2, 5}) == (grown.others, {len(one.drawn) for one in grown.strata})
    with pytest.raises(ReviewRefused, match="a sample of 2 has no case of some of the 3 verdicts: draw more"):
        draw_by_verdict(any_store, 2, 7, r1)


def test_a_draw_that_grows_is_known_as_one_with_an_earlier_look(memory: MemoryEventStore) -> None:
    for number in range(20):
        judged_debate(memory, f"d{number}", PASS, seed=number)
    sizes = []
    for size in (5, 9):
        sample = draw_sample(memory, size, 7)
        for debate in sample.debates:
            assign_review(memory, debate, "ann", by="ann", sample=sample.drawn)
        found = recorded_draw(memory)
        assert found is not None
        sizes.append((len(found.strata[0].drawn), found.earlier))

    assert [(5, ()), (9, (5,))] == sizes


def test_each_case_is_drawn_as_often_as_any_other(memory: MemoryEventStore) -> None:
    for number in range(10):
        judged_debate(memory, f"d{number}", PASS, seed=number)
    counts = dict.fromkeys((f"d{number}" for number in range(10)), 0)
    for seed in range(400):
        for one in draw_sample(memory, 3, seed).debates:
            counts[one] += 1

    # 400 draws of 3 of 10: mean 120, standard deviation 9.2.
    assert all(80 <= count <= 160 for count in counts.values())


def test_drawn_debates_come_in_an_order_that_does_not_follow_the_jury(memory: MemoryEventStore) -> None:
    for number, name in enumerate("abcdef"):
        judged_debate(memory, name, REVIEW, seed=number, case_id=f"case-{name}", evaluated=name in "bd")
    before = [name for name, _ in queue(memory)]
    drawn = draw_sample(memory, 6, 7)
    for debate in drawn.debates:
        assign_review(memory, debate, "ann", by="ann", sample=drawn.drawn)

    assert ["a", "c", "e", "f", "b", "d"] == before
    order = sorted("abcdef", key=lambda name: sha256(f"case-{name}".encode()).digest())
    assert [(name, "sampled") for name in order] == queue(memory)


def drawn_store() -> tuple[MemoryEventStore, list[str], str]:
    """A store of three cases in two runs, of which ann is given two, and the third."""
    store = MemoryEventStore()
    for run in ("r1", "r2"):
        for number in range(3):
            judged_debate(store, f"{run}~c{number}", PASS, seed=number, run_id=run, case_id=f"c{number}")
    drawn = draw_sample(store, 2, 1)
    for debate in drawn.debates:
        assign_review(store, debate, "ann", by="ann", sample=drawn.drawn)
    (rest,) = {f"r1~c{number}" for number in range(3)} - {*drawn.debates}
    return store, [*drawn.debates], rest


def labels(store: EventStore, *, random_only: bool = False) -> list[tuple[str, str, str]]:
    found = review_labels(store, random_only=random_only).labels
    check_labels(found)
    return [(one["case_id"], one["annotator"], one["label"]) for one in found.to_pylist()]


def test_blind_reviews_of_drawn_debates_are_the_random_sample() -> None:
    store, (one, other), rest = drawn_store()
    for debate, new in (
        (one, NewReview("ann", FAIL, blind=True)),
        (one, NewReview("ann", PASS, "The jury is right.")),
        (other, NewReview("ann", FAIL)),
        (rest, NewReview("ann", FAIL, blind=True)),
        (one, NewReview("bob", FAIL, blind=True)),
    ):
        record_review(store, debate, new)
    found = review_labels(store, random_only=True)

    assert ["unsafe_fail"] == [review.verdict for review in reviews_of(store, one).random_sample]
    assert () == reviews_of(store, other).random_sample == reviews_of(store, rest).random_sample
    assert [(one.removeprefix("r1~"), "ann", "unsafe_fail")] == labels(store, random_only=True)
    assert (3, 1) == (found.left_out, found.not_reviewed)


# Labels and agreement.


def test_a_person_has_one_label_a_case_the_last_one_in_the_words_of_the_votes() -> None:
    store, _, _ = drawn_store()
    for moment, (debate, person, verdict) in enumerate(
        (("r1~c0", "ann", FAIL), ("r1~c0", "bob", FAIL), ("r1~c1", "ann", FAIL), ("r2~c0", "ann", PASS))
    ):
        record_review(store, debate, NewReview(person, verdict), clock=lambda at=moment: at)
    words = VerdictWords(("bad", "good"), labels={"safe_pass": "good", "unsafe_fail": "bad"})

    assert [("c0", "ann", "safe_pass"), ("c0", "bob", "unsafe_fail"), ("c1", "ann", "unsafe_fail")] == labels(store)
    assert ["good", "bad", "bad"] == review_labels(store, words).labels["label"].to_pylist()


def test_without_a_review_there_are_no_labels_and_no_agreement(memory: MemoryEventStore) -> None:
    for random_only in (False, True):
        with pytest.raises(SettingError, match="labels reviews: this store has no"):
            review_labels(memory, random_only=random_only)
    with pytest.raises(ReviewRefused, match="no debate has a review yet"):
        review_agreement(memory)


def test_agreement_is_that_of_first_verdicts_and_of_labels_where_all_have_one(memory: MemoryEventStore) -> None:
    for number, (ann, bob) in enumerate(((PASS, PASS), (FAIL, PASS), (FAIL, FAIL))):
        judged_debate(memory, f"d{number}", seed=number)
        record_review(memory, f"d{number}", NewReview("ann", ann))
        record_review(memory, f"d{number}", NewReview("bob", bob))
    record_review(memory, "d1", NewReview("bob", FAIL, "ann convinced me"))
    found, scaled = review_agreement(memory), MemoryEventStore()
    for name, label in (("a", "partial"), ("b", "right")):
        store_debate(scaled, a_right_answer(), name)
        record_review(scaled, name, NewReview("ann", None, label="right"))
        record_review(scaled, name, NewReview("bob", None, label=label))
    by_labels = review_agreement(scaled)

    (pair,) = found.agreement.pairs
    # ann p f f, bob p p f: observed 2/3, expected (1·2 + 2·1)/9 = 4/9.
    assert pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9)) == pair.kappa.value
    assert ({"ann": 3, "bob": 3}, 3, (), None) == (found.reviewers, found.together, found.disputed, found.labels)
    assert (("right", "partial", "wrong"), 0.5) == (by_labels.labels, by_labels.agreement.raw.value)


# The item where it went wrong first: of so many pairs that both name one, so many name the same.


def a_store(debate: EvidenceDebate | DebateBuilder | None = None, *items: int | None) -> MemoryEventStore:
    """With the debate `d1`, whose jury names item 5 twice and item 3 once; people name these."""
    store = MemoryEventStore()
    keep(store, debate or EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    for reviewer, item in zip("abcdef", items, strict=False):
        record_review(store, "d1", naming(item)._replace(reviewer=reviewer))
    return store


@each_row(
    ("items", "people", "jury"),
    [((5, 5, 3, None), (1, 3), (2, 3)), ((None, None), (0, 0), (0, 0)), ((5,), (0, 0), (1, 1))],
)
def test_pairs_of_reviewers_and_the_jury_are_compared(
    items: tuple[int | None, ...], people: tuple[int, int], jury: tuple[int, int]
) -> None:
    assert (people, jury) == review_agreement(a_store(None, *items)).decisive


def test_the_first_verdict_counts_and_a_jury_without_one_item_is_not_compared(printed: RefusalTables) -> None:
    store, undecided = a_store(None, 3, 5), a_store(EvidenceDebate(TABLE, TABLE["gemini"][0]), 5)
    record_review(store, "d1", NewReview("a", FAIL, "b convinced me", decisive_item=5))
    with review_site(store) as client:
        visit = Visit(client, TOKEN)
        pages = {language: visit.get(f"/reviewers?lang={language}").all(".same-item") for language in ("en", "ja")}

    assert ((0, 1), (1, 2)) == review_agreement(store).decisive
    assert ((0, 0), (0, 0)) == review_agreement(undecided).decisive
    printed.compare("agreement_on_items", {language: "\n".join(lines) for language, lines in pages.items()})


def a_sourced_case(scenarios: int = 1) -> Case:
    """The case with the messages of the five items of its transcript, which are the items 2 to 6."""
    case = a_cited_case()
    (scenario,) = case.scenarios
    sources = tuple(ItemSource(message=number, place="") for number in (0, 1, 2, 3, 3))
    transcript = scenario.execution.transcript.changed(sources=sources)
    scenario = scenario.changed(execution=scenario.execution.changed(transcript=transcript))
    several = tuple(scenario.changed(scenario_id=f"s{number}") for number in range(scenarios))
    return case.changed(scenarios=several, label=FAIL, metadata={"decisive_message": 3})


def messages(store: EventStore, *, random_only: bool = False) -> dict[str, int | None]:
    rows = review_labels(store, random_only=random_only).labels.to_pylist()
    return {one["annotator"]: one["decisive_message"] for one in rows}


def test_an_item_becomes_the_message_that_it_is_of_where_that_is_known() -> None:
    sourced = a_store(EvidenceDebate(case=a_sourced_case()), 5, 6, 2, 7, None)
    several = a_store(EvidenceDebate(case=a_sourced_case(scenarios=2)), 5)
    assign_review(sourced, "d1", "ann", by="ann", sample=ReviewSample(seed=1, size=1, population=1))
    record_review(sourced, "d1", naming(2)._replace(blind=True))
    record_review(sourced, "d1", naming(5))

    assert {"a": 3, "b": 3, "c": 0, "d": None, "e": None, "ann": 3} == messages(sourced)
    assert {"ann": 0} == messages(sourced, random_only=True)
    erase(sourced, "d1", ERASURE, now=9)
    assert [{None}] * 3 == [{*messages(one).values()} for one in (sourced, several, a_store(None, 5))]


def test_the_table_of_labels_has_items_and_messages_and_labels_of_files_stand_beside(tmp_path: Path) -> None:
    store = a_store(EvidenceDebate(case=a_sourced_case()), 5, None)
    export_tables(store, DebateSelection(), tmp_path)
    rows = pq.read_table(tmp_path / "labels.parquet").to_pylist()
    (tmp_path / "labels.csv").write_text("case_id,annotator,label\nc1,file,unsafe_fail\n")

    found, _ = later_labels([str(tmp_path / "labels.csv"), "reviews"], VerdictWords(), store, lambda _line: None)

    assert [("case", None, 3), ("a", 5, 3), ("b", None, None)] == [
        (one["annotator"], one["decisive_item"], one["decisive_message"]) for one in rows
    ]
    assert {"a": 3, "b": None, "file": None} == {one["annotator"]: one["decisive_message"] for one in found.to_pylist()}
