"""A ladder of stages as its certificate lets it be applied: which verdict of which stage stands without the next one.

Stages are panels, from the cheapest on. A case goes to the next stage unless its verdict is accepted; what the last
stage says stands, and nothing is promised of it. An audited share of the cases that stopped early is judged by the last
one too, and their early verdict stands. How the thresholds are certified: `jury_analysis.ladder_promises`.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from jury_events.calibration import Calibration, Hex256, OutcomeThreshold, Signal, SignalVote
from jury_events.value import DebateId, Value
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


_MOST = 9
"""Stages of a ladder: ids have one digit."""

Aside = Literal["escalated", "audit", "replaced"]
"""Why a debate is not the one that counts for its case: a later stage follows, it is an audit, or the case was judged
again."""

_AUDIT = b"audit of an early exit"
_BITS = 64


class StagePlace(Value):
    """The place of a debate in a ladder, recorded when it opens.

    `ladder` is the digest of the ladder, `number` counts the `of` stages from 1. `before` is the debate of the case in
    the stage before, or, for an `audit`, the one that stopped early. `every_case`: every case goes through every stage,
    as no verdict is accepted early; None: only the cases that are left reach a later stage.
    """

    ladder: Hex256
    number: Annotated[int, Field(ge=1, le=_MOST)]
    of: Annotated[int, Field(ge=2, le=_MOST)]
    before: DebateId | None = None
    audit: bool = False
    every_case: Literal[True] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "StagePlace":
        if self.number > self.of:
            raise ValueError(f"number: {self.number} is more than the {self.of} stages")
        if (self.before is None) != (self.number == 1):
            raise ValueError("before: every stage but the first has a debate before it")
        if self.audit and self.number != self.of:
            raise ValueError("audit: the last stage audits")
        if self.audit and self.every_case:
            raise ValueError("audit: nothing ends early where every case goes through every stage")
        return self


def aside(place: dict[str, Any] | None, *, completed: bool, accepted: bool | None) -> Aside | None:
    """Why a debate that was completed, or failed, does not count for its case; None: it counts.

    Args:
        place: the recorded `StagePlace`; None: the debate is of no ladder.
        accepted: the verdict is accepted; None: the panel has no calibration.
    """
    if place is None:
        return None
    if place.get("audit"):
        return "audit"
    last = place["number"] >= place["of"]
    return None if last or (completed and accepted) else "escalated"


def audited(secret: bytes, case: bytes, share: float) -> bool:
    """Whether the early exit of a case is audited: HMAC-SHA256 under the secret of the debate that stopped early.

    No juror knows the secret, so nothing that judges knows it before.

    Args:
        case: the digest of the case, as the debate recorded it.
        share: of the early exits, 0 to 1.
    """
    drawn = hmac.new(secret, _AUDIT + case, hashlib.sha256).digest()[: _BITS // 8]
    return bool(int.from_bytes(drawn, "big") < share * 2**_BITS)
