"""A calibrated panel: which verdicts stand, and which calibration a panel takes."""

from typing import Any

import pytest

from jury_debate import PROMPTS, PanelError, PanelSpec, newest_rules, read_spec, recorded_panel, resolve, spec_of
from jury_events import Acceptance, CallOutcome, Judgment, OutcomeThreshold, SignalVote, Verdict
from support.calibrations import DAWID_SKENE, ISOTONIC, SHARE, WEIGHTS, calibrated
from support.debate_harness import SECRET, DebateHarness, DeterministicParts, Says, a_case, a_panel, by_round
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL
SEATS = ("gpt", "claude", "gemini")
INDEPENDENT: dict[str, Any] = {
    "preset": "independent",
    "seats": [{"model": "simulated/juror", "juror_id": juror} for juror in SEATS],
}


def judged(*verdicts: Any, spec: dict[str, Any] = INDEPENDENT, scenarios: int = 1, **numbers: Any) -> Judgment:
    answers = {
        seat: [one if isinstance(one, CallOutcome) else Says(one, 90.0 if one is P else 10.0)]
        for seat, one in zip(SEATS, verdicts, strict=True)
    }
    panel = resolve(PanelSpec.model_validate(calibrated(spec, **numbers))).panel
    harness = DebateHarness(panel, by_round(answers, Says(P, 80.0)), case=a_case(scenarios=scenarios)).run()
    judgment = harness.debate.state.judgment
    assert judgment is not None
    assert harness.debate.state.completed is not None
    assert judgment.verdict is harness.debate.state.completed.final_verdict
    return judgment


def acceptance(judgment: Judgment) -> Acceptance:
    assert judgment.acceptance is not None
    return judgment.acceptance


ABSTAIN: dict[str, Any] = {**INDEPENDENT, "answers": {"safety_filter": "abstain"}}
AVERAGE: dict[str, Any] = {**INDEPENDENT, "final": {"quorum": 1, "method": "weighted_average"}}
FAILS = (OutcomeThreshold(outcome="fail", threshold=0.6, risk=0.05),)
BLOCKED = CallOutcome.BLOCKED
TWO_THIRDS = 0.666666667


@each_row(
    ("votes", "numbers", "verdict", "probability", "accepted"),
    [
        ((P, P, F), {"threshold": TWO_THIRDS}, P, TWO_THIRDS, True),
        ((F, F, P), {"threshold": 0.7}, F, TWO_THIRDS, False),
        ((P, R, F), {"threshold": 0.1}, R, None, False),  # nothing to accept
        # A calibration on false passes lets a fail stand; an outcome without a threshold is never accepted.
        ((P, P, F), {"threshold": 1.0, "on": "false_pass"}, P, TWO_THIRDS, False),
        ((F, F, P), {"threshold": 0.6, "by_outcome": FAILS}, F, TWO_THIRDS, True),
        ((P, P, P), {"threshold": 0.6, "by_outcome": FAILS}, P, None, False),
        # What stands in for a blocked answer is no vote.
        ((P, P, BLOCKED), {"threshold": 0.1, "spec": AVERAGE}, P, TWO_THIRDS, True),
        ((P, BLOCKED, BLOCKED), {"threshold": 0.1, "spec": ABSTAIN}, R, None, False),
    ],
)
def test_a_verdict_stands_where_its_probability_reaches_the_threshold(
    votes: tuple[Any, ...], numbers: dict[str, Any], verdict: Verdict, probability: float | None, *, accepted: bool
) -> None:
    judgment = judged(*votes, **numbers)
    found = acceptance(judgment)

    assert (verdict, probability, accepted) == (found.verdict, found.probability, found.accepted)
    assert (verdict if accepted else R) is judgment.verdict


def test_a_calibration_on_false_passes_lets_a_fail_stand() -> None:
    few = judged(F, F, P, threshold=1.0, on="false_pass")

    assert (F, True) == (few.verdict, acceptance(few).accepted)


def test_without_a_calibration_there_is_no_acceptance() -> None:
    found = DebateHarness(a_panel(*SEATS, preset="independent"), by_round({seat: [Says(P)] for seat in SEATS})).run()

    assert found.debate.state.judgment is not None
    assert found.debate.state.judgment.acceptance is None


def test_the_scenarios_of_a_verdict_that_does_not_stand_do_not_stand() -> None:
    assert [R, R] == [row.verdict for row in judged(P, P, F, scenarios=2, threshold=1.0).scenarios]
    assert [P, P] == [row.verdict for row in judged(P, P, F, scenarios=2, threshold=0.5).scenarios]


@each_row(
    ("signal", "votes", "probability"),
    [
        (SHARE, (P, P, None), 2 / 3),
        (ISOTONIC, (P, P, F), 0.8),
        (ISOTONIC, (P, P, P), 0.95),
        (ISOTONIC, (P, None, None), 0.5),
        # exp(1 * 0.8) / (exp(0.8) + exp(-0.5 - 1 - 0.25)): a pass is -1/2 of the input of another verdict
        (WEIGHTS, (P, P, P), 0.927573515),
        # prior .6 and .4; .9 * .9 * .1 against .2 * .2 * .8
        (DAWID_SKENE, (P, P, F), 0.6 * 0.081 / (0.6 * 0.081 + 0.4 * 0.032)),
        (DAWID_SKENE, (P, None, None), 0.54 / (0.54 + 0.08)),
    ],
)
def test_the_probability_of_each_signal(signal: Any, votes: tuple[Verdict | None, ...], probability: float) -> None:
    given = [SignalVote(seat, vote, 0.5, 90.0) for seat, vote in zip(SEATS, votes, strict=True)]

    assert probability == pytest.approx(signal.probability(P, given), abs=1e-9)


def test_isotonic_chances_are_linear_between_their_points() -> None:
    votes = [SignalVote(str(number), P if number < 5 else F) for number in range(6)]

    assert 0.8 + 0.15 / 2 == pytest.approx(ISOTONIC.probability(P, votes), abs=1e-9)


def test_chances_that_are_zero_make_no_error() -> None:
    assert 0.0 == DAWID_SKENE.probability(R, [SignalVote("gpt", P), SignalVote("unknown", F)])


@each_row(
    "change",
    [
        {"discussion": {"max_rounds": 1}},
        {"language": "ja"},
        {"seats": [*INDEPENDENT["seats"][:2], {"model": "simulated/other", "juror_id": "gemini"}]},
        {"settings": {"temperature": 0.5}},
        {"rubric": "aisev"},
    ],
)
def test_the_calibration_of_another_panel_is_refused(change: dict[str, Any]) -> None:
    spec = calibrated(INDEPENDENT) | change

    with pytest.raises(PanelError, match=r"final.calibration: it was certified for another panel"):
        resolve(read_spec(spec))


def test_the_calibration_under_other_prompts_is_refused() -> None:
    spec = calibrated(INDEPENDENT)
    seats = [{**INDEPENDENT["seats"][0], "prompt": "Be strict."}, *INDEPENDENT["seats"][1:]]

    with pytest.raises(PanelError, match=r"final.calibration: it was certified under other prompts"):
        resolve(read_spec({**spec, "seats": seats}))


def test_a_calibrated_panel_may_have_another_name() -> None:
    assert "careful" == resolve(read_spec(calibrated(INDEPENDENT) | {"name": "careful"})).panel.name


@each_row("prompts", PROMPTS)
def test_a_recorded_panel_keeps_its_calibration(prompts: int) -> None:
    resolved, pen = resolve(read_spec(calibrated(INDEPENDENT, prompts, signal=WEIGHTS))), DeterministicParts()
    opened = newest_rules().open_debate(
        a_case(),
        resolved.panel,
        debate_id="d",
        run_id=None,
        secret=SECRET,
        parts=pen,
        prompts_version=resolved.prompts,
    )

    assert resolved == recorded_panel(opened, pen.texts)
    assert resolved == resolve(spec_of(resolved))
    assert prompts == opened.prompts
