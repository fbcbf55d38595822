"""Consensus checks over all seats of a panel, how votes divide, and the final judgment with the vote of every seat."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
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


class ConsensusStatus(StrEnum):
    """Document 004 §4.2."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    SPLIT = "split"


class ConsensusCheck(Value):
    """`largest` of `seats` seats have the same position; a seat that abstains stays in the denominator.

    `majority_position` is None when split; `majority_label` is its label, as in `SeatPosition`. `reached`: by the
    rules of the panel, the consensus ends phase 1 or the rounds.
    """

    status: ConsensusStatus
    largest: Annotated[int, Field(ge=0)]
    seats: Annotated[int, Field(ge=1)]
    majority_position: Verdict | None = None
    reached: bool
    majority_label: LabelId | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.largest > self.seats:
            raise ValueError(f"largest: {self.largest} is more than the {self.seats} seats")
        if (self.status is ConsensusStatus.SPLIT) != (self.majority_position is None):
            raise ValueError("majority_position: null exactly when the status is split")
        if self.majority_label is not None and self.majority_position is None:
            raise ValueError("majority_label: a split panel has none")
        return self

    @property
    def agreement(self) -> Fraction:
        """largest / seats, exact."""
        return Fraction(self.largest, self.seats)

    @property
    def agreement_level(self) -> float:
        """largest / seats, 0-1."""
        return self.largest / self.seats


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


def sides_of(positions: Iterable[str | None]) -> tuple[int, ...]:
    """How many votes each position has, the most first; None is no vote."""
    return tuple(count for _, count in Counter(one for one in positions if one is not None).most_common())


def sides_text(sides: tuple[int, ...]) -> str | None:
    """`2:1`, `3:0` where all agree; None without a vote."""
    if not sides:
        return None
    return ":".join(map(str, sides if len(sides) > 1 else (*sides, 0)))
