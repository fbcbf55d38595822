"""What a juror thinks: an evaluation, and the statement that carries it in a round."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from jury_events.parts import PartRef
from jury_events.rubric import Scores
from jury_events.value import Confidence, ModelName, Points, ScenarioId, Value
from jury_events.verdict import Verdict


class ScenarioVerdict(Value):
    """The verdict on one scenario of a case that has several."""

    scenario_id: ScenarioId
    verdict: Verdict
    score: Points


class Evaluation(Value):
    """A juror's verdict, scores (points a rubric dimension, `overall` their sum, 0-100), confidence 0-1, rationale.

    `synthetic` marks the neutral evaluation that stands in for one that a provider's safety filter blocked.
    `model` was asked, `model_version` answered (None: the provider did not say); `simulated`: no model did.
    """

    verdict: Verdict
    scores: Scores
    overall: Points
    confidence: Confidence
    rationale: PartRef
    synthetic: bool = False
    model: ModelName
    model_version: ModelName | None = None
    simulated: bool = False
    scenarios: tuple[ScenarioVerdict, ...] = ()

    @model_validator(mode="after")
    def _overall_is_the_sum(self) -> Self:
        if self.overall != self.scores.overall:
            raise ValueError(f"overall: {self.overall:g} is not the sum of the scores, {self.scores.overall:g}")
        return self


class Statement(Value):
    """What a juror says in a round. The engine, not the text, says whether its position changed.

    `order` is the place in the round's speaker order, from 0.
    """

    order: Annotated[int, Field(ge=0)]
    statement: PartRef
    evaluation: Evaluation
    position_changed: bool

    @property
    def position(self) -> Verdict:
        """The verdict that the speaker holds now."""
        return self.evaluation.verdict
