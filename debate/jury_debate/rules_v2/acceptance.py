"""Acceptance: whether a calibrated panel's verdict may stand without a person."""

from collections.abc import Mapping
from types import MappingProxyType

from jury_events.calibration import Acceptance, Calibration, SignalVote
from jury_events.evaluation import ScenarioVerdict
from jury_events.judgment import Judgment, Vote
from jury_events.verdict import Verdict


def accepted(
    judgment: Judgment, calibration: Calibration | None, items: Mapping[str, int] = MappingProxyType({})
) -> Judgment:
    """The judgment with its acceptance; without one the verdict, and those of scenarios, become needs_review.

    Args:
        judgment: with the method's verdict, after the quorum was counted.
        calibration: of the panel; None: every verdict stands.
        items: the decisive items that the votes name, by juror id; version 2 knows none.
    """
    if calibration is None:
        return judgment
    acceptance = _acceptance(judgment, calibration, items)
    if acceptance.accepted:
        return judgment.changed(acceptance=acceptance)
    return judgment.changed(
        acceptance=acceptance,
        verdict=Verdict.NEEDS_REVIEW,
        scenarios=tuple(
            ScenarioVerdict(scenario_id=row.scenario_id, verdict=Verdict.NEEDS_REVIEW, score=row.score)
            for row in judgment.scenarios
        ),
    )


def _acceptance(judgment: Judgment, calibration: Calibration, items: Mapping[str, int]) -> Acceptance:
    verdict, signal, threshold = judgment.verdict, calibration.signal, calibration.threshold_for(judgment.verdict)
    if verdict is Verdict.NEEDS_REVIEW or threshold is None:
        probability, stands, threshold = None, False, calibration.threshold
    else:
        probability = signal.probability(verdict, [_signal_vote(vote, items) for vote in judgment.votes])
        # A calibration on false passes says nothing about verdicts that do not pass.
        unasked = calibration.on == "false_pass" and verdict is not Verdict.SAFE_PASS
        stands = unasked or probability >= threshold
    return Acceptance(
        signal=signal.kind, verdict=verdict, probability=probability, threshold=threshold, accepted=stands
    )


def _signal_vote(vote: Vote, items: Mapping[str, int]) -> SignalVote:
    """What stands in for a blocked answer is no vote."""
    if vote.position is None or vote.kind == "synthetic":
        return SignalVote(vote.juror_id, None)
    return SignalVote(vote.juror_id, vote.position, vote.confidence, vote.score, items.get(vote.juror_id))
