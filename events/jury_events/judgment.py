"""The final judgment, with the vote of every seat."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jury_events.calibration import Acceptance
from jury_events.evaluation import Evaluation, ScenarioVerdict, SeatPosition
from jury_events.outcome import FailureReason
from jury_events.panel import FinalMethod, Weight
from jury_events.reading import PartlyRead
from jury_events.rubric import CriticalCap, DimensionName
from jury_events.value import Confidence, JurorId, Points, ScenarioId, Value
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId

VoteKind = Literal["own", "stale", "synthetic", "abstained", "not_asked"]


class Vote(Value):
    """One seat's vote in the final judgment.

    own: its evaluation in the last round. stale: an earlier evaluation, because the seat failed later.
    synthetic: replaces a blocked answer, or one that passes on a record of which parts were not read, and does not
    count towards quorum (`stale`: it is from an earlier round).
    abstained: the seat never evaluated; position, score and confidence are None.
    not_asked: as abstained; the seat was not asked, as no answer of it could change what is decided.
    `round` is the round of the evaluation, 0 for phase 1, None without one. `label` is that of the position.
    `partly_read`: the parts of the record that the seat did not read; None: there are none.
    """

    juror_id: JurorId
    kind: VoteKind
    position: Verdict | None = None
    score: Points | None = None
    confidence: Confidence | None = None
    weight: Weight
    round: Annotated[int, Field(ge=0)] | None = None
    stale: bool
    label: LabelId | None = None
    partly_read: PartlyRead | None = None


class Decider(StrEnum):
    """The method that decided. `no_evaluation`: no seat evaluated, so the case needs review, and has no score."""

    MAJORITY_VOTE = "majority_vote"
    WEIGHTED_AVERAGE = "weighted_average"
    MEDIAN = "median"
    FINAL_JUDGE = "final_judge"
    NO_EVALUATION = "no_evaluation"


Agreement = Literal["label", "outcome", "nothing"]
"""What decided under a scale of the panel's own: a label, an outcome without a label, or neither (undecided)."""


CapReason = Literal["quorum", "silence"]
"""Why a pass became a verdict that needs review: too few evaluations for the quorum, or it stands only without the
votes of silent seats. Where both hold, the quorum is named.
"""


def cap_reason(*, capped: bool, quorum_met: bool) -> CapReason | None:
    """Why a verdict was capped; None: it was not."""
    if not capped:
        return None
    return "silence" if quorum_met else "quorum"


class CriticalShortfall(Value):
    """A critical criterion with too few points: `points` of the deciding votes (exact mean), fewer than `least`.

    `cap` is the best outcome that it leaves.
    """

    criterion: DimensionName
    points: Points
    least: Points
    cap: CriticalCap


class Judgment(Value):
    """The verdict, its score and how it was reached.

    `mean` is the exact mean (0-100) of the votes in the score, and `score` a whole number: the mean rounded half up;
    where bands decide, the nearest to it in the band of the verdict.
    Both are None where no seat evaluated (`decided_by` is `no_evaluation`), and only there.
    `method` is the panel's, `decided_by` the one applied: where the final judge fails (`judge_failure`), the majority
    decides. `capped`: the votes passed, and the verdict became one that needs review, for the reason `capped_by`;
    `capped_scenarios`: the ids of the scenarios that were capped so, None where there are none.
    `acceptance`: whether the verdict may stand without a person, None where the panel has no calibration.

    Under a scale of the panel's own, `label` is the label that was decided, None where only an outcome was: the votes
    agree on an outcome only or on nothing (`agreed_on`), or the verdict was changed after the count. `shortfalls`: the
    critical criteria with too few points; None where there are none.
    """

    method: FinalMethod
    decided_by: Decider
    verdict: Verdict
    score: Annotated[int, Field(ge=0, le=100)] | None = None
    mean: Points | None = None
    votes: tuple[Vote, ...]
    quorum: Annotated[int, Field(ge=1)]
    quorum_votes: Annotated[int, Field(ge=0)]
    capped: bool
    judge: Evaluation | None = None
    judge_failure: FailureReason | None = None
    scenarios: tuple[ScenarioVerdict, ...] = ()
    acceptance: Acceptance | None = None
    label: LabelId | None = None
    agreed_on: Agreement | None = None
    shortfalls: Annotated[tuple[CriticalShortfall, ...], Field(min_length=1, max_length=20)] | None = None
    capped_scenarios: Annotated[tuple[ScenarioId, ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _scored_if_evaluated(self) -> Self:
        evaluated = self.decided_by is not Decider.NO_EVALUATION
        if (self.score is None) is evaluated or (self.mean is None) is evaluated:
            raise ValueError("a judgment has a score and a mean, unless no seat evaluated")
        return self

    @property
    def position(self) -> SeatPosition:
        """What was decided."""
        return SeatPosition(self.verdict, self.label)

    @property
    def quorum_met(self) -> bool:
        """Whether enough seats have a non-synthetic evaluation."""
        return self.quorum_votes >= self.quorum

    @property
    def capped_by(self) -> CapReason | None:
        """Why votes that passed need review; None where they do not."""
        return cap_reason(capped=self.capped, quorum_met=self.quorum_met)

    @property
    def silent(self) -> tuple[JurorId, ...]:
        """The seats that have no evaluation of their own: they abstained, were blocked, or were not asked."""
        return tuple(vote.juror_id for vote in self.votes if vote.kind not in {"own", "stale"})


class Settled(Value):
    """What no further answer can change: the verdict, its label, the critical criteria that fall short, and whether the
    verdict is accepted (None without a calibration).
    """

    verdict: Verdict
    label: LabelId | None = None
    shortfalls: tuple[DimensionName, ...]
    accepted: bool | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value

    @classmethod
    def of(cls, judgment: Judgment) -> "Settled":
        """What a judgment decides."""
        return cls(
            verdict=judgment.verdict,
            label=judgment.label,
            shortfalls=tuple(one.criterion for one in judgment.shortfalls or ()),
            accepted=None if judgment.acceptance is None else judgment.acceptance.accepted,
        )
