"""The outcome of a step, after its models were asked."""

from typing import NamedTuple

from jury_events.evaluation import ScenarioVerdict
from jury_events.outcome import FailureReason, RefusalReason
from jury_events.rubric import Scores
from jury_events.verdict import Verdict


class ParsedAnswer(NamedTuple):
    """A valid answer. Scores are points in rubric order, `confidence` is 0-1, `scenarios` in the order of the spec."""

    verdict: Verdict
    scores: Scores
    confidence: float
    rationale: str
    statement: str | None
    scenarios: tuple[ScenarioVerdict, ...]


class Answered(NamedTuple):
    """A usable answer of `model`; `exchanges` are the ids of every attempt of the step.

    `simulated`: no model was called.
    """

    answer: ParsedAnswer
    model: str
    model_version: str | None
    exchanges: tuple[str, ...]
    simulated: bool = False


class Blocked(NamedTuple):
    """The provider's safety filter blocked `model`, and the panel's policy is to count a neutral evaluation."""

    model: str
    exchanges: tuple[str, ...]


class Unanswered(NamedTuple):
    """No model of the seat gave a usable answer; `refusal` is the parser's last reason, if there was one."""

    reason: FailureReason
    refusal: RefusalReason | None
    exchanges: tuple[str, ...]


Outcome = Answered | Blocked | Unanswered
