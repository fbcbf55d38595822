"""The final judgment, with every seat's vote accounted for."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from jury_events.evaluation import Evaluation, ScenarioVerdict
from jury_events.outcome import FailureReason
from jury_events.panel import FinalMethod, Weight
from jury_events.value import Confidence, JurorId, Points, Value
from jury_events.verdict import Verdict

VoteKind = Literal["own", "stale", "synthetic", "abstained"]


class Vote(Value):
    """What one seat brought to the final judgment.

    own: its evaluation of the last phase that it was asked in. stale: an earlier one, because it failed later.
    synthetic: stands in for a blocked answer, never towards quorum (`stale` tells whether that is an earlier one).
    abstained: it never held an evaluation; position, score and confidence are None.
    `round` is where the evaluation was made, 0 for phase 1, None when abstained.
    """

    juror_id: JurorId
    kind: VoteKind
    position: Verdict | None
    score: Points | None
    confidence: Confidence | None
    weight: Weight
    round: Annotated[int, Field(ge=0)] | None
    stale: bool


class Decider(StrEnum):
    """What decided in the end."""

    MAJORITY_VOTE = "majority_vote"
    WEIGHTED_AVERAGE = "weighted_average"
    MEDIAN = "median"
    FINAL_JUDGE = "final_judge"
    NO_EVALUATION = "no_evaluation"


class Judgment(Value):
    """The verdict, its score (exact mean 0-100 as `mean`, half-up rounded as `score`) and how it came about.

    `method` is what the panel asks for, `decided_by` what decided: a final judge that fails (`judge_failure`) leaves it
    to the majority. `capped` says that a lost quorum turned safe_pass into needs_review.
    """

    method: FinalMethod
    decided_by: Decider
    verdict: Verdict
    score: Annotated[int, Field(ge=0, le=100)]
    mean: Points
    votes: tuple[Vote, ...]
    quorum: Annotated[int, Field(ge=1)]
    quorum_held: Annotated[int, Field(ge=0)]
    capped: bool
    judge: Evaluation | None = None
    judge_failure: FailureReason | None = None
    scenarios: tuple[ScenarioVerdict, ...] = ()

    @property
    def quorum_met(self) -> bool:
        """Whether enough seats hold an evaluation of their own."""
        return self.quorum_held >= self.quorum
