"""A juror's evaluation, and its statement in a round."""

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

    `synthetic` marks the neutral evaluation that replaces an answer blocked by a provider's safety filter.
    `model` was asked, `model_version` answered (None: the provider did not say); `simulated`: no model was called.
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
    """A juror's contribution to a round. `position_changed` is computed by the rules, not taken from the text.

    `order` is the index in the round's speaker order, from 0.
    """

    order: Annotated[int, Field(ge=0)]
    statement: PartRef
    evaluation: Evaluation
    position_changed: bool

    @property
    def position(self) -> Verdict:
        """The speaker's current verdict."""
        return self.evaluation.verdict
