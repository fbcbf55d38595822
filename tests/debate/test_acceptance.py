"""A calibrated panel: which verdicts stand, by which signal, and which calibration a panel takes."""

from typing import Any

import pytest

from jury_debate import (
    PROMPTS,
    PanelError,
    PanelSpec,
    newest_rules,
    panel_digest,
    read_spec,
    recorded_panel,
    resolve,
    spec_of,
)
from jury_events import Acceptance, CallOutcome, Judgment, OutcomeThreshold, SignalVote, Verdict, VotesStepSignal
from support.calibrations import DAWID_SKENE, ISOTONIC, SHARE, WEIGHTS, a_calibration, calibrated
from support.debate_harness import SEATS, SECRET, DebateHarness, DeterministicParts, Says, a_case, a_panel, by_round
from support.each_row import each_row

P, R, F = Verdict.SAFE_PASS, Verdict.NEEDS_REVIEW, Verdict.UNSAFE_FAIL

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
    judgment = harness.judgment
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

    assert found.judgment.acceptance is None


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


ITEM = VotesStepSignal(passing=P, step="item")


@each_row(
    ("verdict", "votes", "value"),
    [
        # (seats + votes that agree) / (2 * seats)
        (F, ((F, 7), (F, 7), (F, 7)), 1.0),
        (F, ((F, 7), (F, 7), (P, None)), 5 / 6),
        (F, ((F, 7), (F, 7), (F, 9)), 5 / 6),
        (F, ((F, 7), (F, 7), (F, None)), 5 / 6),
        (F, ((F, 7), (F, 7), (None, None), (None, None)), 6 / 8),
        (F, ((F, 7), (F, 7), (F, 7), (F, 9), (F, 9)), 8 / 10),
        # nobody agrees: no item, one seat alone, two items that come first
        (F, ((F, None), (F, None), (F, None)), 0.0),
        (F, ((F, 7), (F, 9), (F, None)), 0.0),
        (F, ((F, 7), (F, None), (P, None)), 0.0),
        (F, ((F, 7), (F, 7), (F, 9), (F, 9)), 0.0),
        (F, ((F, 7),), 0.0),
        (F, (), 0.0),
        # seats with another verdict do not count, whatever they name
        (F, ((F, 7), (R, 7), (R, 7)), 0.0),
        (F, ((F, 7), (F, 7), (R, 9), (R, 9), (R, 9)), 7 / 10),
        # a pass: half the share of the votes
        (P, ((P, None), (P, None), (P, None)), 0.5),
        (P, ((P, None), (P, None), (F, 7)), 2 / 6),
        (P, ((P, 7), (P, 7), (P, 7)), 0.5),
    ],
)
def test_the_value_of_agreement(verdict: Verdict, votes: tuple[tuple[Any, int | None], ...], value: float) -> None:
    given = [SignalVote(str(seat), vote, step=step) for seat, (vote, step) in enumerate(votes)]

    assert value == pytest.approx(ITEM.probability(verdict, given), abs=1e-9)
    assert value in (0.0, *(pytest.approx(level, abs=1e-9) for level in ITEM.levels(max(1, len(votes)))))


def test_levels_are_those_of_agreeing_seats_and_then_of_votes_for_a_pass() -> None:
    assert [1.0, 5 / 6, 3 / 6, 2 / 6, 1 / 6] == pytest.approx(ITEM.levels(3), abs=1e-9)


def accepted(*answers: Says, threshold: float, prompts: int = 1, **spec: Any) -> tuple[Verdict, Acceptance]:
    panel = a_panel(*SEATS, prompts=prompts, **{"preset": "independent", **spec})
    calibration = a_calibration(signal=ITEM, threshold=threshold, panel=panel_digest(panel))
    panel = panel.changed(final=panel.final.changed(calibration=calibration))
    script = by_round({seat: [one] for seat, one in zip(SEATS, answers, strict=True)}, Says(F, 10.0, decisive_item=1))
    judgment = DebateHarness(panel, script, prompts=prompts).run().judgment
    assert judgment.acceptance is not None
    return judgment.verdict, judgment.acceptance


def fails(item: int | None) -> Says:
    return Says(F, 10.0, decisive_item=item)


PASSES = Says(P, 90.0)
JUDGED = {"preset": "parallel-rounds", "final": {"method": "final_judge"}}


@each_row(
    ("answers", "spec", "threshold", "verdict", "of_votes", "probability"),
    [
        ((fails(1), fails(1), PASSES), {}, 0.7, F, F, 0.833333333),
        # A unanimous fail on different items does not stand.
        ((fails(1), fails(2), fails(None)), {}, 0.1, R, F, 0.0),
        # A pass is accepted by its votes, from a half down.
        ([PASSES] * 3, {}, 0.7, R, P, 0.5),
        ([PASSES] * 3, {}, 0.5, P, P, 0.5),
        # Seats count also where a final judge decides.
        ((fails(2), fails(2), PASSES), JUDGED, 0.7, F, F, 0.833333333),
    ],
)
def test_what_stands_is_a_fail_on_whose_item_the_seats_agree_or_a_pass_by_its_votes(
    answers: Any, spec: dict[str, Any], threshold: float, verdict: Verdict, of_votes: Verdict, probability: float
) -> None:
    found, acceptance = accepted(*answers, threshold=threshold, **spec)

    assert ("votes+step", of_votes, probability) == (acceptance.signal, acceptance.verdict, acceptance.probability)
    assert (verdict, verdict is of_votes) == (found, acceptance.accepted)
