"""Whole debates under scales of a panel's own: what is recorded, and that a recount is the live judgment."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import (
    PROMPTS_VERSION,
    DebateState,
    IllegalEvent,
    PanelSpec,
    SeatEvaluation,
    panel_digest,
    prompts_digest,
    resolve,
    rules_of,
)
from jury_events import (
    CallOutcome,
    ConsensusChecked,
    DebateCompleted,
    Judgment,
    JudgmentRendered,
    JurorEvaluated,
    ScenarioVerdict,
    StatementMade,
    Verdict,
    VerdictScale,
    encode,
)
from support.calibrations import a_calibration
from support.debate_harness import (
    SEATS,
    Answer,
    DebateHarness,
    Says,
    a_case,
    a_panel,
    by_round,
)
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, YES_NO, scales, written

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
INDEPENDENT: dict[str, Any] = {"preset": "independent"}
ROUNDS: dict[str, Any] = {"discussion": {"max_rounds": 2}, "final": {"method": "majority_vote"}}


def a_debate(table: Sequence[Sequence[Answer]], judge: Answer = Says("needs_review"), **spec: Any) -> DebateHarness:
    """A debate in which each seat answers its row, round by round."""
    case = spec.pop("case", None)
    script = by_round(dict(zip(SEATS, table, strict=True)), judge)
    return DebateHarness(a_panel(**spec), script, case=case).run()


def voted(*words: str | Answer, **spec: Any) -> Judgment:
    rows = [[word if isinstance(word, CallOutcome | Says) else Says(word, 80.0)] for word in words]
    return a_debate(rows, **{**INDEPENDENT, **spec}).judgment


def recounted(debate: DebateHarness) -> Judgment:
    opened = debate.debate.state.debate
    rounds: list[list[SeatEvaluation]] = [[] for _ in range(debate.debate.state.round + 1)]
    judge = failure = None
    for event in debate.events:
        if isinstance(event, JurorEvaluated):
            rounds[0].append(SeatEvaluation(0, event.juror_id, event.evaluation, event.peer_text))
        elif isinstance(event, StatementMade):
            said = event.statement.evaluation
            rounds[event.round].append(SeatEvaluation(event.round, event.juror_id, said, event.peer_text))
        elif isinstance(event, JudgmentRendered):
            judge, failure = event.judgment.judge, event.judgment.judge_failure
    return rules_of(opened.rules).recount(opened, rounds, judge=judge, judge_failure=failure).judgment


def test_labels_stand_beside_their_outcomes_in_every_event() -> None:
    debate = a_debate([[Says("right")], [Says("right")], [Says("partial"), Says("right")]], **ANSWERS, **ROUNDS)

    evaluations = [event.evaluation for event in debate.events if isinstance(event, JurorEvaluated)]
    checks = [event.check for event in debate.events if isinstance(event, ConsensusChecked)]
    changed = [event.statement.position_changed for event in debate.events if isinstance(event, StatementMade)]
    assert [(P, "right"), (P, "right"), (R, "partial")] == [(one.verdict, one.label) for one in evaluations]
    assert [("right", 2), ("right", 3)] == [(one.majority_label, one.largest) for one in checks]
    assert [False, False, True] == changed
    assert isinstance(debate.events[-1], DebateCompleted)
    assert (P, "right") == (debate.events[-1].final_verdict, debate.events[-1].final_label)
    assert "label" == debate.judgment.agreed_on


def test_a_position_changes_with_its_label_though_its_outcome_stays() -> None:
    debate = a_debate([[Says("4")], [Says("5")], [Says("5"), Says("4")]], **LEVELS, **ROUNDS)

    changed = [event.statement.position_changed for event in debate.events if isinstance(event, StatementMade)]
    assert [False, False, True] == changed[:3]


NONE, BLOCKED = CallOutcome.TIMEOUT, CallOutcome.BLOCKED
GOOD, FAIR, BAD = Says("right", 90.0), Says("right", 80.0), Says("wrong", 0.0)


@each_row(
    ("fields", "words", "verdict", "label", "agreed_on", "score"),
    [
        (ANSWERS, ("right", "right", "wrong"), P, "right", "label", 80),
        (ANSWERS, ("right", "partial", "wrong"), R, None, "nothing", 80),
        (ANSWERS, ("wrong", "wrong", BLOCKED), F, "wrong", "label", 80),
        (ANSWERS, ("partial", BLOCKED, "right"), R, None, "outcome", 65),
        # The score is that of the level, where no points are asked for.
        (LEVELS, ("5", "4", "4"), P, "4", "label", 75),
        (YES_NO, ("yes", "no", NONE), R, None, "nothing", 50),
        # A lost quorum leaves an outcome, and a label that does not pass.
        (ANSWERS, ("right", NONE, NONE), R, None, "label", 80),
        (ANSWERS, ("partial", NONE, NONE), R, "partial", "label", 80),
        # Only the votes that decide count for a critical criterion.
        (ANSWERS, (GOOD, FAIR, BAD), P, "right", "label", 85),
    ],
)
def test_a_judgment_says_what_was_agreed_on(
    fields: dict[str, Any],
    words: Sequence[Any],
    verdict: Verdict,
    label: str | None,
    agreed_on: str,
    score: int,
) -> None:
    found = voted(*words, **fields)

    assert (verdict, label, agreed_on) == (found.verdict, found.label, found.agreed_on)
    assert score == found.score
    assert found.shortfalls is None


def test_a_peer_is_shown_by_its_label_and_a_blocked_one_by_its_outcome_as_it_has_no_label() -> None:
    debate = a_debate([[Says("right")], [CallOutcome.BLOCKED], [Says("wrong")]], **ANSWERS, **ROUNDS, language="en")

    (blocked,) = [
        event.evaluation for event in debate.events if isinstance(event, JurorEvaluated) and event.evaluation.synthetic
    ]
    assert (R, None, 50.0) == (blocked.verdict, blocked.label, blocked.overall)
    shown = "".join(debate.prompt(asked) for asked in debate.asked if asked.step.round)
    assert "verdict right, score" in shown
    assert "verdict review, score 50/100" in shown
    assert "needs_review" not in shown


def test_the_final_judge_decides_with_a_label() -> None:
    debate = a_debate([[Says("right")]] * 3, Says("partial", 90.0), **ANSWERS, discussion={"max_rounds": 1})
    found = debate.judgment

    assert (R, "partial", 90) == (found.verdict, found.label, found.score)
    assert found.judge is not None
    assert "partial" == found.judge.label


@each_row(("cap", "verdict"), [("review", R), ("fail", F)])
@each_row("scale", [ANSWERS["scale"], None], ids=["own scale", "three verdicts"])
def test_too_few_points_for_a_critical_criterion_cap_the_verdict(cap: str, verdict: Verdict, scale: Any) -> None:
    criteria = [{**ANSWERS["criteria"][0], "critical": cap}, ANSWERS["criteria"][1]]
    word = "right" if scale else "safe_pass"

    few = voted(*[Says(word, 40.0)] * 3, criteria=criteria, scale=scale)
    enough = voted(*[Says(word, 50.0)] * 3, criteria=criteria, scale=scale)

    assert (verdict, None) == (few.verdict, few.label)
    assert [("facts", 28.0, 35.0, cap)] == [(s.criterion, s.points, s.least, s.cap) for s in few.shortfalls or ()]
    assert (P, "right" if scale else None, None) == (enough.verdict, enough.label, enough.shortfalls)


def test_scenarios_are_counted_by_label() -> None:
    debate = a_debate(
        [[Says("right")], [Says("right")], [Says("wrong")]], **ANSWERS, **INDEPENDENT, case=a_case(scenarios=2)
    )

    assert [(P, "right")] * 2 == [(row.verdict, row.label) for row in debate.judgment.scenarios]


def test_a_failing_label_needs_evidence_as_a_failing_verdict_does() -> None:
    debate = a_debate([[Says("wrong")]] * 3, **ANSWERS, **INDEPENDENT, answers={"evidence": "required"}, language="en")

    repaired = [debate.prompt(asked) for asked in debate.asked if asked.call.turn > 1]
    assert len(SEATS) == len(repaired)
    assert all("a verdict of wrong needs a quotation" in text for text in repaired)


@given(scales(), st.sampled_from(["majority_vote", "weighted_average", "median"]), st.data())
def test_a_recount_is_the_live_judgment_and_every_event_is_written_exactly(
    scale: VerdictScale, method: str, data: st.DataObject
) -> None:
    answers = st.tuples(st.sampled_from(scale.ids), st.integers(0, 100), st.integers(0, 10)).map(
        lambda drawn: Says(drawn[0], float(drawn[1]), drawn[2] / 10)
    )
    rows = [
        data.draw(st.lists(st.one_of(answers, st.just(CallOutcome.BLOCKED)), min_size=3, max_size=3)) for _ in SEATS
    ]
    criteria = data.draw(st.sampled_from(["none", ANSWERS["criteria"]]))
    debate = a_debate(
        rows,
        scale=written(scale),
        criteria=criteria,
        discussion={"max_rounds": 2, "threshold": 0.67},
        final={"method": method},
    )

    assert debate.judgment == recounted(debate)
    for event in debate.events:
        assert event == type(event).model_validate_json(encode(event, recorded_at=1).body)


@each_row(
    ("words", "accepted", "label"),
    [(("right", "right", "right"), True, "right"), (("right", "right", "wrong"), False, None)],
)
def test_a_verdict_that_is_not_accepted_has_no_label_and_its_acceptance_does(
    words: tuple[str, ...], label: str | None, *, accepted: bool
) -> None:
    spec: dict[str, Any] = {
        **INDEPENDENT,
        **ANSWERS,
        "seats": [{"model": "simulated/a", "juror_id": one} for one in SEATS],
    }
    panel = resolve(PanelSpec.model_validate(spec)).panel
    calibration = a_calibration(panel=panel_digest(panel), prompts=prompts_digest({}, None, PROMPTS_VERSION))
    calibrated = resolve(PanelSpec.model_validate({**spec, "final": {"calibration": calibration}}))
    script = by_round({seat: [Says(word, 80.0)] for seat, word in zip(SEATS, words, strict=True)})

    found = DebateHarness(calibrated.panel, script, prompts=calibrated.prompts).run().judgment

    assert found.acceptance is not None
    assert (accepted, "right", label) == (found.acceptance.accepted, found.acceptance.label, found.label)
    assert (P if accepted else R) is found.verdict


def test_a_failing_label_without_support_counts_half_where_the_panel_says_so() -> None:
    whole, halved = (
        voted("wrong", "wrong", "right", **ANSWERS, **rule) for rule in ({}, {"answers": {"unsupported": "halve"}})
    )

    assert (F, "wrong") == (whole.verdict, whole.label)
    assert (R, None, "nothing") == (halved.verdict, halved.label, halved.agreed_on)


@each_row(
    ("spec", "changes"),
    [
        (ANSWERS, {"label": "good"}),
        (ANSWERS, {"label": "wrong"}),
        (ANSWERS, {"verdict": R}),
        ({}, {"label": "right"}),
        (ANSWERS, {"scenarios": (ScenarioVerdict(scenario_id="s1", verdict=P, score=1.0, label="partial"),)}),
    ],
)
def test_a_label_that_the_scale_does_not_have_with_that_outcome_breaks_a_law(
    spec: dict[str, Any], changes: dict[str, Any]
) -> None:
    word = "right" if spec else "safe_pass"
    debate = a_debate([[Says(word)]] * 3, Says(word), **spec, discussion={"max_rounds": 1, "threshold": 2.0})
    rules, state = debate.debate.rules, DebateState()
    broken = []

    for event in debate.events:
        for forged in forgeries(event, changes):
            with pytest.raises(IllegalEvent, match="none of the panel's scale"):
                rules.evolve(state, forged)
            broken.append(forged.type)
        state = rules.evolve(state, event)

    assert {"juror_evaluated", "statement_made", "judgment_rendered"} == set(broken)


def forgeries(event: Any, changes: dict[str, Any]) -> list[Any]:
    match event:
        case JurorEvaluated():
            return [event.changed(evaluation=event.evaluation.changed(**changes))]
        case StatementMade():
            return [
                event.changed(
                    statement=event.statement.changed(evaluation=event.statement.evaluation.changed(**changes))
                )
            ]
        case JudgmentRendered() if event.judgment.judge is not None:
            return [event.changed(judgment=event.judgment.changed(judge=event.judgment.judge.changed(**changes)))]
    return []
