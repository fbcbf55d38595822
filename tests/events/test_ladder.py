"""What a certified ladder accepts, stage by stage."""

from typing import Any

import pytest
from pydantic import ValidationError

from jury_events import (
    FAIL,
    PASS,
    REVIEW,
    Calibration,
    CertifiedStage,
    LadderCertificate,
    OutcomeThreshold,
    ProbabilitySignal,
    ShareSignal,
    SignalVote,
    Verdict,
    canonical_json,
)
from support.calibrations import a_calibration
from support.each_row import each_row

ON_FAILS = OutcomeThreshold(outcome="fail", threshold=0.5, risk=0.1)
ON_PASSES = OutcomeThreshold(outcome="pass", threshold=1.0, risk=0.05)


def a_stage(*thresholds: OutcomeThreshold) -> CertifiedStage:
    return CertifiedStage(panel="9a" * 32, prompts="3c" * 32, signal=ShareSignal(), thresholds=thresholds)


def a_ladder(*stages: CertifiedStage, **fields: Any) -> LadderCertificate:
    return LadderCertificate(digest="1a" * 32, stages=stages, missed=None, confidence=0.9, **fields)


def votes(*verdicts: Verdict | None) -> list[SignalVote]:
    return [SignalVote(str(place), verdict) for place, verdict in enumerate(verdicts)]


LADDER = a_ladder(a_stage(ON_FAILS), a_stage(ON_FAILS, ON_PASSES), a_stage())


@each_row(
    ("stage", "verdict", "given", "accepted"),
    [
        (1, FAIL, (FAIL, FAIL), True),
        (1, FAIL, (FAIL, None), True),
        (1, FAIL, (FAIL, None, None), False),
        (1, PASS, (PASS, PASS), False),
        (1, REVIEW, (REVIEW, REVIEW), False),
        (2, PASS, (PASS, PASS), True),
        (2, PASS, (PASS, None), False),
        (3, PASS, (PASS, FAIL), True),
        (3, REVIEW, (PASS, FAIL), True),
    ],
)
def test_a_stage_accepts_by_outcome(
    stage: int, verdict: Verdict, given: tuple[Verdict | None, ...], accepted: bool
) -> None:
    assert accepted == LADDER.accepts(stage, verdict, votes(*given))


def test_the_calibration_of_a_stage_has_its_thresholds() -> None:
    found = LADDER.calibration_of(2)

    assert found is not None
    assert (0.5, 0.1, "1a" * 32) == (found.threshold, found.risk, found.digest)
    assert (1.0, 0.5, None) == tuple(found.threshold_for(one) for one in (PASS, FAIL, REVIEW))


def test_a_last_stage_with_thresholds_is_refused() -> None:
    with pytest.raises(ValidationError, match="the last stage accepts nothing"):
        a_ladder(a_stage(), a_stage(ON_FAILS))


def test_an_outcome_with_two_thresholds_is_refused() -> None:
    with pytest.raises(ValidationError, match="an outcome has one threshold"):
        a_ladder(a_stage(ON_FAILS, ON_FAILS), a_stage())


def test_a_threshold_that_is_not_the_lowest_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be the lowest of by_outcome"):
        a_calibration(threshold=0.7, by_outcome=(ON_FAILS,))


def test_thresholds_by_outcome_come_back_from_their_bytes() -> None:
    found = LADDER.calibration_of(2)

    assert found == Calibration.model_validate_json(canonical_json(found))


VOTES = [SignalVote("a", "good", 0.9), SignalVote("b", "good", 0.6), SignalVote("c", "bad", 0.8), SignalVote("d", None)]


@each_row(("verdict", "mean"), [("good", 0.375), ("bad", 0.2), ("unclear", 0.0)])
def test_votes_for_another_verdict_and_no_votes_count_nothing(verdict: str, mean: float) -> None:
    assert mean == ProbabilitySignal().probability(verdict, VOTES)


def test_it_is_at_most_the_share_of_the_votes() -> None:
    certain = [vote._replace(confidence=1.0) for vote in VOTES]

    assert ShareSignal().probability("good", VOTES) == ProbabilitySignal().probability("good", certain)


def test_a_vote_without_a_confidence_counts_nothing() -> None:
    assert 0.0 == ProbabilitySignal().probability("good", [SignalVote("a", "good"), SignalVote("b", "good")])


def test_thresholds_are_hundredths() -> None:
    assert (1.0, 0.99, 0.01, 100) == (*ProbabilitySignal.levels()[:2], ProbabilitySignal.levels()[-1], 100)
