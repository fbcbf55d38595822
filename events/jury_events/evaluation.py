"""A juror's evaluation, and its statement in a round."""

from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from jury_events.evidence import MOST_ENTRIES, Evidence, ItemNumber
from jury_events.parts import PartRef
from jury_events.reading import RecordRead
from jury_events.rubric import DimensionScore, Scores
from jury_events.value import Confidence, ModelName, Points, ScenarioId, Value
from jury_events.verdict import FAIL, Verdict
from jury_events.verdict_scale import LabelId


class SeatPosition(NamedTuple):
    """What a seat says: a label of the panel's scale, and its outcome.

    `label` is None under the three verdicts, and where only an outcome stands, as of a blocked answer.
    """

    verdict: Verdict
    label: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value


class LabelProbability(Value):
    """The probability of a verdict word: a label of the panel's scale, else one of the three verdicts."""

    label: LabelId
    probability: Confidence


Probabilities = Annotated[tuple[LabelProbability, ...], Field(min_length=2)]
"""Of every verdict word, from the worst to the best, as a decision model gave them."""


class ScenarioVerdict(Value):
    """The verdict on one scenario of a case that has several; `label` as in `SeatPosition`.

    `probabilities` as in `Evaluation`.
    """

    scenario_id: ScenarioId
    verdict: Verdict
    score: Points
    label: LabelId | None = None
    probabilities: Probabilities | None = None

    @property
    def position(self) -> SeatPosition:
        """What is said of the scenario."""
        return SeatPosition(self.verdict, self.label)


class Evaluation(Value):
    """A juror's verdict, scores (points a rubric dimension, `overall` their sum, 0-100), confidence 0-1, rationale.

    `synthetic` marks the neutral evaluation that replaces an answer blocked by a provider's safety filter, or a passing
    one that rests on a record of which parts were refused, or never answered usably (`partly_read`).
    `model` was asked, `model_version` answered (None: the provider did not say); `simulated`: no model was called.
    `evidence`: its quotations, checked, whose texts are `quotes`; None where the panel or the version of the prompts
    asks for none.
    `decisive_item`: the first item where it went wrong; None where the verdict passes, or none is named. `label` as in
    `SeatPosition`.
    `reading`: how much of the record it rests on; None: all of it, in one call. `answered`: the verdict as answered,
    where it passes and does not count, as less was read than the panel's `least_read`, or parts were not.

    `probabilities`: what a decision model answered. It gives neither points nor reasons: `scores` and `rationale` are
    None, `overall` follows from the probabilities, and `confidence` is that of the verdict.
    """

    verdict: Verdict
    scores: Scores | None = None
    overall: Points
    confidence: Confidence
    rationale: PartRef | None = None
    synthetic: bool = False
    model: ModelName
    model_version: ModelName | None = None
    simulated: bool = False
    scenarios: tuple[ScenarioVerdict, ...] = ()
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=MOST_ENTRIES)] | None = None
    quotes: PartRef | None = None
    decisive_item: ItemNumber | None = None
    label: LabelId | None = None
    reading: RecordRead | None = None
    answered: Verdict | None = None
    probabilities: Probabilities | None = None

    @property
    def position(self) -> SeatPosition:
        """What it says."""
        return SeatPosition(self.verdict, self.label)

    @property
    def partly_read(self) -> tuple[str, ...]:
        """The parts of the record that were refused, or never answered usably."""
        return () if self.reading is None else self.reading.partly_read or ()

    @property
    def unsupported(self) -> bool:
        """Whether it fails the agent, was asked for evidence, and no quotation of it stands where it says."""
        return (
            self.verdict is FAIL
            and self.evidence is not None
            and not self.synthetic
            and not any(one.supports for one in self.evidence)
        )

    @property
    def points(self) -> tuple[DimensionScore, ...]:
        """The points for each dimension; () of a decision model."""
        return () if self.scores is None else self.scores.dimensions

    @model_validator(mode="after")
    def _has_points_or_probabilities(self) -> Self:
        if self.probabilities is not None:
            if self.scores is not None or self.rationale is not None:
                raise ValueError("probabilities: a decision model gives neither scores nor a rationale")
        elif self.scores is None or self.rationale is None:
            raise ValueError("scores, rationale: missing, and there are no probabilities in their place")
        elif self.overall != self.scores.overall:
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
