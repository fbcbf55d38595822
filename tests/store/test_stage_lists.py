"""Debates of a ladder in the lists of every store: one of each case counts, and sums have what all of them cost."""

import pytest

from jury_events import (
    FAIL,
    PASS,
    REVIEW,
    Acceptance,
    DebateCompleted,
    DebateFailed,
    JudgmentRendered,
    NewEvent,
    StagePlace,
    Verdict,
    debate_stream,
    encode,
    first_stage_of,
    make_part,
    repeat_of,
    stage_id,
)
from jury_store import ALL_STAGES, Append, DebateFilter, EventStore
from support.debate_builder import DebateBuilder, salt_of

pytestmark = pytest.mark.full_for("postgresql")

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
