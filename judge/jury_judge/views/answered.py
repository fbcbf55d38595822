"""Who really answered: models that stood in for the ones that were asked, and jurors that are no model."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation
from jury_events.ids import FINAL, Step
from jury_events.models import is_other_model

EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})
"""The types of the events that hold an evaluation."""


class Given(NamedTuple):
    """An evaluation, and the step in which it was given."""

    step: Step
    evaluation: Evaluation


def given(events: Iterable[DebateEvent]) -> list[Given]:
    """The evaluations of a debate in order, the final judge's last."""
    found = []
    for event in events:
        match event:
            case JurorEvaluated():
                found.append(Given(Step(0, event.juror_id), event.evaluation))
            case StatementMade():
                found.append(Given(Step(event.round, event.juror_id), event.statement.evaluation))
            case JudgmentRendered() if event.judgment.judge is not None:
                found.append(Given(FINAL, event.judgment.judge))
            case _:
                pass
    return found


def other_model(evaluation: Evaluation) -> str | None:
    """The model that answered, where it is another than the one that was asked."""
    if evaluation.simulated or not is_other_model(evaluation.model, evaluation.model_version):
        return None
    return evaluation.model_version


def is_stand_in(evaluation: Evaluation) -> bool:
    """Whether somebody simulated answered under a model's name."""
    return evaluation.simulated and not evaluation.model.startswith("simulated/")


def is_simulated(opened: DebateOpened, evaluations: Iterable[Given]) -> bool:
    """Whether the panel, or whoever answered for a model of it, is simulated."""
    return opened.simulated or any(one.evaluation.simulated for one in evaluations)


def model_mismatches(evaluations: Iterable[Given]) -> list[dict[str, Any]]:
    """Where another model answered than was asked: `{juror_id, step, asked, answered}`; null is the final judge."""
    return [
        {
            "juror_id": one.step.juror_id,
            "step": one.step.id,
            "asked": one.evaluation.model,
            "answered": one.evaluation.model_version,
        }
        for one in evaluations
        if other_model(one.evaluation) is not None
    ]
