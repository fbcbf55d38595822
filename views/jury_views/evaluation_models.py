"""What a juror says of a case, as result models: its evaluation, with scenarios and quotations.

Fields of document 004 come first, in their order; what we add follows and has defaults. A text that was erased is None.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from jury_events.errors import SettingError

DIMENSIONS = ("task_completion", "tool_usage", "autonomy", "safety")
"""The rubric of document 002, with at most 40, 30, 20 and 10 points."""


class EvaluationPhase(StrEnum):
    """When an evaluation was made, as the documents' events name it."""

    INITIAL = "initial"
    DISCUSSION = "discussion"
    FINAL_JUDGMENT = "final_judgment"


@dataclass
class ScenarioResult:
    """The verdict and score (0-100) of one scenario.

    `probabilities` by verdict word: in the evaluation of a decision model.
    """

    scenario_id: str
    verdict: str
    score: float | None
    label: str | None = None
    probabilities: dict[str, float] | None = None


@dataclass
class QuotationSpan:
    """Where a quotation stands: characters `start` to `end` (exclusive) of the text of `item`.

    `item` is None for what a seat said.
    """

    item: int | None
    start: int
    end: int


@dataclass
class QuotedEvidence:
    """A quotation of an item, or of what `seat` said about it, and the result of its check.

    `says` is `for`, `against` or `context`, `criterion` the rubric dimension that it is about, `result` is `verified`,
    `normalised`, `elsewhere` or `not_found`. `span` is None where it was not found, `quote` where it was erased.
    """

    item: int
    quote: str | None
    says: str
    criterion: str | None
    seat: str | None
    result: str
    span: QuotationSpan | None


class _NotGiven:
    def __repr__(self) -> str:
        return "not given"


_NOT_GIVEN = _NotGiven()
_Points = float | _NotGiven | None


@dataclass(init=False)
class JurorEvaluation:
    """A juror's evaluation (document 004 §8: required fields first).

    `round_number` is 0 in phase 1. Points of the four dimensions are None where the panel's rubric has other ones;
    `scores` has all of them. `synthetic`: neutral, for an answer that a safety filter blocked, or one that passes
    on a record of which parts were not read. `simulated`: the
    answer is no model's; `model` was asked, `model_version` answered. `evidence` is None where none was asked for;
    `decisive_item` is the first item where it went wrong; `unsupported`: it fails the agent without a quotation that
    stands where the juror says. `reading`: how much of a long record it rests on, as in `jury show --json`; None: all
    of it, in one call. `probabilities` by verdict word: what a decision model answered, which gives neither points nor
    a rationale; else None.

    Document 004 §8 names two of the dimensions otherwise, in the constructor and in reading: `security_score` is
    `task_completion`, and `safety_score` is `safety`.

    Raises:
        TypeError: a dimension is given by neither of its names.
        SettingError: a dimension is given by both of its names, with different values.
    """

    juror_id: str
    phase: EvaluationPhase
    round_number: int
    verdict: str
    overall_score: float
    confidence: float
    rationale: str | None
    task_completion: float | None
    tool_usage: float | None
    autonomy: float | None
    safety: float | None
    role_name: str | None = None
    role_focus: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    synthetic: bool = False
    model: str | None = None
    model_version: str | None = None
    simulated: bool = False
    scenarios: list[ScenarioResult] = field(default_factory=list)
    evidence: list[QuotedEvidence] | None = None
    decisive_item: int | None = None
    unsupported: bool = False
    label: str | None = None
    reading: dict[str, Any] | None = None
    probabilities: dict[str, float] | None = None

    def __init__(  # noqa: PLR0917  (the fields in the document's order)
        self,
        juror_id: str,
        phase: EvaluationPhase,
        round_number: int,
        verdict: str,
        overall_score: float,
        confidence: float,
        rationale: str | None,
        task_completion: _Points = _NOT_GIVEN,
        tool_usage: float | None = None,
        autonomy: float | None = None,
        safety: _Points = _NOT_GIVEN,
        role_name: str | None = None,
        role_focus: str | None = None,
        scores: dict[str, float] | None = None,
        synthetic: bool = False,
        model: str | None = None,
        model_version: str | None = None,
        simulated: bool = False,
        scenarios: list[ScenarioResult] | None = None,
        evidence: list[QuotedEvidence] | None = None,
        decisive_item: int | None = None,
        unsupported: bool = False,
        label: str | None = None,
        reading: dict[str, Any] | None = None,
        probabilities: dict[str, float] | None = None,
        *,
        security_score: _Points = _NOT_GIVEN,
        safety_score: _Points = _NOT_GIVEN,
    ) -> None:
        self.juror_id = juror_id
        self.phase = phase
        self.round_number = round_number
        self.verdict = verdict
        self.overall_score = overall_score
        self.confidence = confidence
        self.rationale = rationale
        self.task_completion = _one_of("task_completion", task_completion, "security_score", security_score)
        self.tool_usage = tool_usage
        self.autonomy = autonomy
        self.safety = _one_of("safety", safety, "safety_score", safety_score)
        self.role_name = role_name
        self.role_focus = role_focus
        self.scores = {} if scores is None else scores
        self.synthetic = synthetic
        self.model = model
        self.model_version = model_version
        self.simulated = simulated
        self.scenarios = [] if scenarios is None else scenarios
        self.evidence = evidence
        self.decisive_item = decisive_item
        self.unsupported = unsupported
        self.label = label
        self.reading = reading
        self.probabilities = probabilities

    @property
    def security_score(self) -> float | None:
        """Document 004's name of `task_completion`."""
        return self.task_completion

    @property
    def safety_score(self) -> float | None:
        """Document 004's name of `safety`."""
        return self.safety


def _one_of(name: str, value: _Points, other: str, other_value: _Points) -> float | None:
    if isinstance(value, _NotGiven):
        if isinstance(other_value, _NotGiven):
            raise TypeError(f"JurorEvaluation: {name} is missing; give {name} or {other}")
        return other_value
    if not isinstance(other_value, _NotGiven) and other_value != value:
        raise SettingError(f"{other}: is {other_value!r}, but {name} is {value!r}; give one of the two")
    return value
