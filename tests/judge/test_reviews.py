"""People's reviews on record: in a stream of their own, chained, blind once a case, never lost to another reviewer."""

import json
import random
import re
from typing import Any, NamedTuple

import pytest

from jury_events import Case, DebateNotFound, Verdict, review_stream
from jury_judge import NewReview, Records, ReviewRefused
from jury_replay import ErasureOrder, erase, quarantine, replay_history, verify
from jury_store import Append, DebateFilter, EventStore, MemoryEventStore
from jury_views import event_lines, line_of, result_of, review_choices
from support.debate_harness import a_case
from support.debates import DebateScript
from support.evidence_debate import EvidenceDebate
from support.pages import keep
from support.recorded_reviews import assign_review, record_review, reviews_of, withdraw_review
from support.refusals import RefusalTables
from support.reviewed import judged_debate
from support.scaled_debates import a_right_answer, mixed_levels
from support.stored_debates import store_debate

PASS, REVIEW, FAIL = Verdict
ERASURE = ErasureOrder("dpo@example.com", "request 17", "debate")


class Said(NamedTuple):
    """A review as a person expects it to stand."""

    number: int
    debate: str
    reviewer: str
    verdict: Verdict
    reason: str
    withdrawn: bool = False


class People:
    """What people do with debates, and what must be on record of it: the model of the log."""

    def __init__(self, store: EventStore, cases: dict[str, str], seed: int) -> None:
        self.store, self.cases, self.chance = store, cases, random.Random(seed)
        self.said: list[Said] = []
        self.lengths = dict.fromkeys(cases, 0)

    def standing(self, debate: str) -> list[Said]:
        """The last review of each person that was not withdrawn, in their order."""
        last = {one.reviewer: one for one in self.said if one.debate == debate and not one.withdrawn}
        return sorted(last.values(), key=lambda one: one.number)

    def step(self) -> None:
        debate, person = self.chance.choice([*self.cases]), self.chance.choice(["ann", "bob"])
        live = [one for one in self.said if one.debate == debate and not one.withdrawn]
        if live and self.chance.random() < 0.25:
            self.withdraw(self.chance.choice(live))
        else:
            self.review(debate, person, self.chance.choice([PASS, FAIL]), blind=self.chance.random() < 0.5)

    def withdraw(self, one: Said) -> None:
        withdraw_review(self.store, one.debate, one.number, by="lead", reason="The wrong key.")
        self.lengths[one.debate] += 1
        self.said[self.said.index(one)] = one._replace(withdrawn=True)
        with pytest.raises(ReviewRefused, match="no review or assignment"):
            withdraw_review(self.store, one.debate, one.number, by="lead")

    def review(self, debate: str, person: str, verdict: Verdict, *, blind: bool) -> None:
        before = next((one for one in self.standing(debate) if one.reviewer == person), None)
        reason = self.chance.choice(["", "It asked for the code."])
        new = NewReview(person, verdict, reason, blind=blind)
        if before is not None and (before.verdict, before.reason) == (verdict, reason):
            assert before.number == record_review(self.store, debate, new).number, "the same again is no new review"
            return
        seen = [one for one in self.said if one.reviewer == person and self.cases[one.debate] == self.cases[debate]]
        if blind and seen:
            with pytest.raises(ReviewRefused, match=f"{person} has reviewed"):
                record_review(self.store, debate, new)
            return
        made = record_review(self.store, debate, new)
        self.lengths[debate] += 1
        assert (self.lengths[debate], before and before.number) == (made.number, made.supersedes)
        self.said.append(Said(made.number, debate, person, verdict, reason))

    def check(self) -> None:
        for debate in self.cases:
            row, facts, standing = self.store.debate(debate), reviews_of(self.store, debate), self.standing(debate)
            history = self.store.history(debate)
            assert row is not None
            assert row.review_facts == facts
            assert [(one.number, one.reviewer, one.verdict) for one in standing] == [
                (one.number, one.reviewer, one.verdict) for one in facts.standing
            ]
            disposition = standing[-1].verdict if standing else PASS
            assert (PASS, disposition) == (row.final_verdict, row.disposition)
            assert (disposition, PASS) == (result_of(history).disposition, result_of(history).final_verdict)
            assert line_of(history)["final_verdict"] == PASS
            assert self.lengths[debate] == len(self.store.read_stream(review_stream(debate)))
        reviewed = {one.debate for one in self.said if not one.withdrawn}
        assert reviewed == {row.debate_id for row in self.store.list_debates(DebateFilter(reviewed=True))}


def test_what_people_do_is_on_record_and_the_last_verdict_is_the_disposition(any_store: EventStore) -> None:
    cases = {"a": "one", "b": "one", "c": "two"}
    for number, (debate, case_id) in enumerate(cases.items()):
        judged_debate(any_store, debate, PASS, seed=number, case_id=case_id, text=case(case_id).to_part().decode())
    replayed = [replay_history(any_store.history(debate)).status for debate in cases]
    people = People(any_store, cases, 20261128)
    for _ in range(8):
        for _ in range(5):
            people.step()
        people.check()
    any_store.rebuild()

    people.check()
    assert verify(any_store).ok
    assert replayed == [replay_history(any_store.history(debate)).status for debate in cases], "no input of a replay"


# Blindness ends with the first review of the case, over forks, repeats and runs.


def case(case_id: str = "refund", said: str = "Refunded.") -> Case:
    made = a_case(case_id)
    scenario = made.scenarios[0]
    return made.changed(scenarios=(scenario.changed(execution=scenario.execution.changed(response=said)),))


def judged(store: EventStore, debate_id: str, of: Case | None = None, text: bytes | None = None) -> None:
    """A finished debate over a case, with salts of its own."""
    of = of or case()
    text = of.to_part() if text is None else text
    judged_debate(store, debate_id, seed=store.last_position() + 1, case_id=of.case_id, run_id=None, text=text.decode())


def blind(store: EventStore, debate_id: str, reviewer: str = "ann") -> str | None:
    """Record a blind review; gives the debate of the same case that the person reviewed before, where it is refused."""
    try:
        record_review(store, debate_id, NewReview(reviewer, PASS, blind=True))
    except ReviewRefused as refused:
        found = re.search(rf"{reviewer} has reviewed (\S+), a debate of the same case", str(refused))
        return debate_id if found is None else found[1]
    return None


OTHERS = {
    "a text of a newer version": ("a", b"of a newer version"),
    "other fetched records": ("a", case().changed(artifact_summary=None).to_part()),
    "other words": (None, case(said="Refused.").to_part()),
    "another id": (None, case("other").to_part()),
}


def test_another_reading_is_the_same_case_and_other_words_are_not() -> None:
    found = {}
    for name, (_, text) in OTHERS.items():
        store = MemoryEventStore()
        judged(store, "a")
        judged(store, "b", case("other") if name == "another id" else None, text)
        blind(store, "a")
        found[name] = blind(store, "b")

    assert {name: expected for name, (expected, _) in OTHERS.items()} == found


def test_a_withdrawn_review_and_those_of_erased_debates_or_in_quarantine_end_blindness_too() -> None:
    store = MemoryEventStore()
    for name in ("a", "b", "c", "d"):
        judged(store, name)
    blind(store, "b")
    withdraw_review(store, "b", 1, by="ann")
    blind(store, "c", "bob")
    quarantine(store, "c", by="lead", reason="doubtful")
    blind(store, "d", "cho")
    erase(store, "d", ERASURE, now=9)

    assert {"ann": "b", "bob": "c", "cho": "d", "dee": None} == {
        name: blind(store, "a", name) for name in ("ann", "bob", "cho", "dee")
    }


async def test_the_queue_marks_what_a_person_cannot_review_blind(sqlite_url: str, store: EventStore) -> None:
    for name, of in {"a": case(), "b": case(), "c": case("other")}.items():
        judged(store, name, of)
    blind(store, "a")

    async with Records(sqlite_url) as records:
        queues = {person: await records.review_queue(person, reviews=2) for person in ("ann", "bob")}

    assert {"ann": {"b": "a", "c": None}, "bob": {"a": None, "b": None, "c": None}} == {
        person: {one.row.debate_id: one.partial for one in queue} for person, queue in queues.items()
    }


# Labels of the panel's scale, and the item where it went wrong first.


def a_located() -> MemoryEventStore:
    """With the debate `d1` ; its items are 1 to 8."""
    store = MemoryEventStore()
    keep(store, EvidenceDebate())  # type: ignore[arg-type]  (of another class, with the same members)
    return store


def naming(item: int | None, verdict: Verdict = FAIL) -> NewReview:
    return NewReview("ann", verdict, decisive_item=item)


def test_what_cannot_be_recorded_is_refused_with_the_place(refusals: RefusalTables) -> None:
    store, located, erased = MemoryEventStore(), a_located(), a_located()
    erase(erased, "d1", ERASURE, now=9)
    for name, verdict in {"plain": REVIEW, "aside": REVIEW}.items():
        judged_debate(store, name, verdict, seed=len(name))
    quarantine(store, "aside", by="ops", reason="why")
    script = DebateScript("open")
    store.append([Append(script.stream, script.begins(), 0, store.next_epoch())])
    store_debate(store, a_right_answer(), "a")
    rows: dict[str, tuple[EventStore, str, NewReview]] = {
        "no debate": (store, "x", NewReview("ann", PASS)),
        "a debate that goes on": (store, "open", NewReview("ann", PASS)),
        "a debate in quarantine": (store, "aside", NewReview("ann", PASS)),
        "nobody": (store, "plain", NewReview("", PASS)),
        "a name of two lines": (store, "plain", NewReview("a\nb", PASS)),
        "less than no time": (store, "plain", NewReview("ann", PASS, minutes=-1.0)),
        "a long reason": (store, "plain", NewReview("ann", PASS, "x" * 100_001)),
        "half a character": (store, "plain", NewReview("ann", PASS, "\ud800")),
        "another label": (store, "a", NewReview("ann", None, label="rigth")),
        "a label and another verdict": (store, "a", NewReview("ann", PASS, label="wrong")),
        "neither": (store, "a", NewReview("ann", None)),
        "a label where there is no scale": (store, "plain", NewReview("ann", None, label="right")),
        "an item of a pass by its label": (store, "a", NewReview("ann", None, label="right", decisive_item=1)),
        **{f"item {item}": (located, "d1", naming(item)) for item in (0, 9, -1, 10**9)},
        "item of a pass": (located, "d1", naming(5, PASS)),
        "item of an erased case": (erased, "d1", naming(5)),
    }

    refusals.check("reviews", rows, lambda row: record_review(*row), ReviewRefused, DebateNotFound)
    assert [()] * 3 == [
        reviews_of(one, name).reviews for one, name in ((store, "plain"), (store, "a"), (located, "d1"))
    ]


def test_labels_and_items_are_in_the_event_where_they_are_given_and_another_one_is_another_review() -> None:
    store, located = MemoryEventStore(), a_located()
    store_debate(store, a_right_answer(), "a")
    store_debate(store, mixed_levels(), "b")
    plain, labelled = (
        record_review(store, "a", one) for one in (NewReview("ann", FAIL), NewReview("bob", None, label="partial"))
    )
    five, again, four = (record_review(store, "b", NewReview("ann", None, label=one)) for one in ("5", "5", "4"))
    first, same, other = (record_review(located, "d1", naming(item)) for item in (5, 5, 3))
    bodies = [one.body for one in (*store.read_stream(review_stream("a")), *located.read_stream(review_stream("d1")))]

    assert (None, REVIEW, "partial") == (plain.label, labelled.verdict, labelled.word)
    assert [(False, False), (True, False), (False, True), (False, True)] == [
        (b'"label"' in body, b'"decisive_item"' in body) for body in bodies
    ]
    assert (five, first) == (again, same)
    assert [(five.number, "4"), (first.number, 3)] == [
        (four.supersedes, four.label),
        (other.supersedes, other.decisive_item),
    ]
    assert ["unsafe_fail by ann, decisive item 5", "unsafe_fail（ann）、決め手の項目5"] == [
        event_lines(located.read_stream(review_stream("d1"))[:1], language=language)[0].said
        for language in ("en", "ja")
    ]


def test_the_choices_are_the_labels_and_levels_have_their_number_as_key() -> None:
    def choices(scale: Any) -> list[tuple[str, str]]:
        return [(one.key, one.word) for one in review_choices(scale)]

    answer, levels = (debate.events[0].panel.scale for debate in (a_right_answer(), mixed_levels()))  # type: ignore[union-attr]
    assert [("p", "safe_pass"), ("n", "needs_review"), ("f", "unsafe_fail")] == choices(None)
    assert [("1", "right"), ("2", "partial"), ("3", "wrong")] == choices(answer)
    assert [(level, level) for level in "54321"] == choices(levels)


def test_a_person_is_asked_once() -> None:
    store = MemoryEventStore()
    judged_debate(store)
    first, again = (assign_review(store, "d", "ann", by=one) for one in ("lead", "boss"))
    (event,) = store.read_stream(review_stream("d"))

    assert first == again
    assert {"by": "lead", "reviewer": "ann"}.items() <= json.loads(event.body).items()
