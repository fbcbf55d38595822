"""Debates found and counted by evidence, by the label of their verdict and by stage, in the lists of every store."""

from collections.abc import Callable
from typing import Any

import pytest

from jury_events import (
    FAIL,
    PASS,
    REVIEW,
    Acceptance,
    BadCondition,
    DebateCompleted,
    DebateFailed,
    EvidenceFacts,
    JudgmentRendered,
    NewEvent,
    SeatEvidence,
    StagePlace,
    Step,
    Verdict,
    debate_stream,
    encode,
    first_stage_of,
    make_part,
    parse_condition,
    parse_conditions,
    repeat_of,
    stage_id,
)
from jury_store import ALL_STAGES, Append, DebateFilter, EventStore
from support.debate_builder import DebateBuilder, salt_of
from support.debate_harness import SEATS, Answer, DebateHarness, a_case, a_panel
from support.evidence_lists import CHOSEN, SAID, a_debate, store_quoting_debates
from support.quoting_debates import ABSENT, CLAUDE, EXACT, GEMINI, GPT, quoting
from support.scaled_debates import a_right_answer, an_answer_without_facts, mixed_levels
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")


def test_debates_are_selected_by_conditions_on_their_evidence(store: EventStore) -> None:
    store_quoting_debates(store)
    for advance in (lambda: None, lambda: store.project(limit=9), store.project, store.rebuild):
        advance()
        for texts, expected in CHOSEN:
            where = parse_conditions(texts, recorded=True)
            newest_first = [row.debate_id for row in store.list_debates(DebateFilter(where=where))]
            as_opened = [row.debate_id for row in store.debates(where=where)]

            assert expected == set(as_opened), texts
            assert as_opened == newest_first[::-1]
            assert len(expected) == store.totals(DebateFilter(where=where)).debates


def test_a_listed_debate_has_the_facts_of_its_evidence(store: EventStore) -> None:
    store_quoting_debates(store)
    for advance in (lambda: None, store.project):
        advance()
        split, unasked = store.debate("split"), store.debate("unasked")

        assert split is not None
        assert unasked is not None
        seats = (SeatEvidence(GPT, 1, False), SeatEvidence(CLAUDE, 2, False), SeatEvidence(GEMINI, 1, False))
        assert EvidenceFacts(verified=2, normalised=1, not_found=1, seats=seats) == split.evidence
        assert (None, None) == (unasked.evidence, unasked.evidence_values)


def test_seats_count_by_their_latest_evaluations_and_quotations_by_all(store: EventStore) -> None:
    def says(step: Step, _call: Any) -> Answer:
        return quoting(ABSENT, item=SEATS.index(step.juror_id or "") % 2 + 1) if not step.round else quoting(EXACT)

    discussion = {"threshold": 2.0, "max_rounds": 1, "always_discuss": True}
    panel = a_panel(*SEATS, discussion=discussion, final={"method": "majority_vote"})
    debate = DebateHarness(panel, says, case=a_case()).run()
    store_debate(store, debate, "d")
    where = parse_conditions(
        ["evidence=not_found", "evidence=verified", "decisive=agree", "unsupported=no"], recorded=True
    )

    (found,) = store.debates(where=where)

    assert found.evidence is not None
    assert (3, 3) == (found.evidence.not_found, found.evidence.verified)


def test_a_final_judge_quotes_and_is_no_seat(store: EventStore) -> None:
    def says(step: Step, _call: Any) -> Answer:
        return quoting(ABSENT, item=2) if step.juror_id is None else quoting(EXACT)

    final = {"method": "final_judge", "judge": {"model": "simulated/judge"}}
    panel = a_panel(*SEATS, preset="independent", final=final)
    debate = DebateHarness(panel, says, case=a_case()).run()
    store_debate(store, debate, "d")

    row = store.debate("d")

    assert row is not None
    assert row.evidence is not None
    assert (3, 1, "agree", 0) == (
        row.evidence.verified,
        row.evidence.not_found,
        row.evidence.decisive,
        row.evidence.unsupported,
    )


def test_a_column_that_holds_no_facts_is_damage_and_values_that_do_not_follow_are_found(
    url: str, sql: Callable[[str, str], None], open_writer: Callable[[str], EventStore]
) -> None:
    store = open_writer(url)
    store_debate(store, a_debate(*SAID["split"]), "split")
    store.project()
    whole = store.debate("split")
    assert not store.list_faults([store.history("split")])
    sql(url, "UPDATE debates SET evidence_values = 1")

    (fault,) = store.list_faults([store.history("split")])

    assert "evidence_values 1" in str(fault)
    for text in ("[1]", "{", "[1,0,0,0,[[1,2,3]]]", '[1,0,0,"x",[]]', "[1,0,0,0,[],0]"):
        sql(url, f"UPDATE debates SET evidence = '{text}'")

        assert [whole] == store.debates() == [store.debate("split")], "made again from its events"


def test_debates_are_chosen_and_counted_by_the_label_of_their_verdict(store: EventStore) -> None:
    for name, debate in (
        ("right", a_right_answer()),
        ("short", an_answer_without_facts()),
        ("again", a_right_answer()),
    ):
        store_debate(store, debate, name)
    store_debate(store, mixed_levels(), "levels", run_id="r2")
    for advance in (lambda: None, lambda: store.project(limit=9), store.project, store.rebuild):
        advance()

        def found(*texts: str) -> set[str]:
            where = parse_conditions(texts, recorded=True)
            return {row.debate_id for row in store.list_debates(DebateFilter(where=where))}

        assert {"right", "again"} == found("final_label=right")
        assert {"short", "levels"} == found("final_label!=right")
        assert {"right", "again"} == found("final_label~IGH")
        assert {"short", "levels"} == found("final_label!~")
        assert ["right", None] == [store.debate(one).final_label for one in ("right", "short")]  # type: ignore[union-attr]
        assert {"right": 2} == store.totals(DebateFilter()).labels
        assert [{"right": 2}, {}] == [one.labels for one in store.totals_by_run().values()]


def test_the_label_is_a_field_of_recorded_debates_alone() -> None:
    with pytest.raises(BadCondition, match=r"final_label is a field of recorded debates"):
        parse_condition("final_label=right")


LADDER = "a" * 64


def _place(number: int, before: str | None = None, *, audit: bool = False) -> StagePlace:
    return StagePlace(ladder=LADDER, number=number, of=2, before=before, audit=audit)


def _ended(place: StagePlace, verdict: Verdict, *, accepted: bool | None) -> DebateBuilder:
    debate = DebateBuilder().opened_as(stage=place).phase_1().judged()
    *before, rendered, completed = debate.events
    assert isinstance(rendered, JudgmentRendered)
    assert isinstance(completed, DebateCompleted)
    acceptance = None
    if accepted is not None:
        acceptance = Acceptance(signal="share", verdict=FAIL, probability=0.9, threshold=0.8, accepted=accepted)
    judgment = rendered.judgment.changed(verdict=verdict, acceptance=acceptance)
    debate.events = [*before, rendered.changed(judgment=judgment), completed.changed(final_verdict=verdict)]
    return debate


def _store(store: EventStore, debate: DebateBuilder, debate_id: str) -> None:
    opened, *later = debate.events
    case_id = first_stage_of(debate_id).partition("~")[2]
    opened = opened.changed(debate_id=debate_id, run_id="r", case_id=case_id)
    parts = tuple(make_part(text, salt_of(text)) for text in debate.texts.values())
    new = [encode(event, recorded_at=1) for event in (opened, *later)]
    new[0] = NewEvent(*new[0][:5], parts)
    (answer,) = store.append([Append(debate_stream(debate_id), tuple(new), 0, store.next_epoch())])
    assert not isinstance(answer, Exception), answer


def test_one_debate_of_each_case_of_a_ladder_counts(store: EventStore) -> None:
    _store(store, _ended(_place(1), FAIL, accepted=True), "r~a")
    _store(store, _ended(_place(1), REVIEW, accepted=False), "r~b")
    _store(store, _ended(_place(2, "r~b"), PASS, accepted=None), "r~b~s2")
    _store(store, _ended(_place(2, "r~a", audit=True), PASS, accepted=None), "r~a~s2")
    failed = DebateBuilder().opened_as(stage=_place(1))
    failed.events.append(DebateFailed(reason="too_long", detail=None))
    _store(store, failed, "r~c")
    for advance in (lambda: None, lambda: store.project(limit=9), store.project, store.rebuild):
        advance()
        assert {"r~a", "r~b~s2"} == {row.debate_id for row in store.list_debates()}
        assert {"r~a": None, "r~b": "escalated", "r~b~s2": None, "r~a~s2": "audit", "r~c": "escalated"} == {
            row.debate_id: row.aside for row in store.list_debates(ALL_STAGES)
        }
        assert {"r~a", "r~b", "r~c"} == {row.debate_id for row in store.list_debates(DebateFilter(stage=1))}
        run = store.run("r")
        assert run is not None
        assert (2, 2, 1, 0, 1) == (run.debates, run.completed, run.safe_pass, run.needs_review, run.unsafe_fail)
        counted, whole = store.totals(), store.totals(ALL_STAGES)
        assert 2 == counted.debates == whole.debates
        assert [50.0, 50.0] == [counted.mean_score, whole.mean_score]
        assert {"r": whole} == store.totals_by_run()
        assert {"r~a", "r~b~s2"} == {one.debate_id for some in store.ballots() for one in some}
        assert 0 == store.further_repeats("r", 1)


def test_a_stage_of_a_repeat_is_of_that_repeat() -> None:
    assert "r~c~2~s3" == stage_id("r~c~2", 3)
    assert "r~c~2" == first_stage_of("r~c~2~s3") == first_stage_of("r~c~2")
    assert [1, 1, 2, 2] == [repeat_of(one, "r", "c") for one in ("r~c", "r~c~s2", "r~c~2", "r~c~2~s3")]
    assert 1 == repeat_of("r~c~s2", "r", "other")
