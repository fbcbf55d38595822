"""A ladder of stages as its certificate lets it be applied: which verdict of which stage stands without the next one.

Stages are panels, from the cheapest on. A case goes to the next stage unless its verdict is accepted; what the last
stage says stands, and nothing is promised of it. How the thresholds are certified: `jury_analysis.ladder_promises`.
"""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from jury_events.calibration import Calibration, Hex256, OutcomeThreshold, Signal, SignalVote
from jury_events.value import Value
from jury_events.verdict import REVIEW, Verdict

FEWEST_STAGES, MOST_STAGES = 2, 6

_Within = Annotated[float, Field(gt=0, lt=1)]


class CertifiedStage(Value):
    """A stage: which panel it is of (`jury_debate.calibrated`), and from which signal on it accepts, by outcome.

    An outcome that is not there is never accepted. The last stage has none: its verdict stands, unpromised.
    """

    panel: Hex256
    prompts: Hex256
    signal: Signal
    thresholds: Annotated[tuple[OutcomeThreshold, ...], Field(max_length=2)]


class LadderCertificate(Value):
    """What a ladder applies; `digest` is the SHA-256 of the file.

    With `confidence` all of this holds at once, for cases like those that it was certified on: of the verdicts that a
    stage accepts with an outcome, at most the `risk` of its threshold have another label; and, where `missed` is a
    number, of the cases whose label fails at most `missed` are accepted as a pass before the last stage.
    """

    digest: Hex256
    stages: Annotated[tuple[CertifiedStage, ...], Field(min_length=FEWEST_STAGES, max_length=MOST_STAGES)]
    missed: _Within | None = None
    confidence: _Within

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.stages[-1].thresholds:
            raise ValueError("stages: the last stage accepts nothing: what it says stands")
        for place in range(len(self.stages)):
            self.calibration_of(place + 1)
        return self

    def calibration_of(self, stage: int) -> Calibration | None:
        """What a debate of this stage is opened with; None for the last stage, whose verdict stands.

        Args:
            stage: from 1.
        """
        if stage == len(self.stages):
            return None
        of = self.stages[stage - 1]
        return Calibration(
            digest=self.digest,
            panel=of.panel,
            prompts=of.prompts,
            on="error",
            risk=max((one.risk for one in of.thresholds), default=1 - self.confidence),
            confidence=self.confidence,
            signal=of.signal,
            threshold=min((one.threshold for one in of.thresholds), default=1.0),
            by_outcome=of.thresholds,
        )

    def accepts(self, stage: int, verdict: Verdict, votes: Sequence[SignalVote]) -> bool:
        """Whether the case ends at this stage with this verdict.

        Args:
            stage: from 1; the last accepts whatever it says.
            verdict: of the stage's panel.
            votes: the last ones, of every seat of the panel.
        """
        calibration = self.calibration_of(stage)
        if calibration is None:
            return True
        threshold = calibration.threshold_for(verdict)
        if verdict is REVIEW or threshold is None:
            return False
        return calibration.signal.probability(verdict, votes) >= threshold
