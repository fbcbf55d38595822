"""Who really answered: models that stood in for the ones that were asked, and jurors that are no model."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from jury_events.codec import SCHEMAS, DebateEvent, decode
from jury_events.debate_events import DebateOpened, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.envelope import StoredEvent
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import FINAL, Step
from jury_events.models import is_other_model

_EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})


class Given(NamedTuple):
    """Who gave an evaluation in a step: the model that was asked, the one that answered, or nobody's (`simulated`)."""

    step: Step
    asked: str
    answered: str | None
    simulated: bool

    @property
    def by_another(self) -> bool:
        """Whether another model answered than was asked."""
        return not self.simulated and is_other_model(self.asked, self.answered)


def given(events: Iterable[DebateEvent | ExchangeRecorded]) -> list[Given]:
    """Who gave the evaluations of a debate, in order, the final judge's last."""
    found = []
    for event in events:
        match event:
            case JurorEvaluated():
                found.append(_given(Step(0, event.juror_id), event.evaluation))
            case StatementMade():
                found.append(_given(Step(event.round, event.juror_id), event.statement.evaluation))
            case JudgmentRendered() if event.judgment.judge is not None:
                found.append(_given(FINAL, event.judgment.judge))
            case _:
                pass
    return found


def given_in(stream: Iterable[StoredEvent]) -> list[Given]:
    """As `given`, of stored events: a list of many debates has no time to decode each evaluation whole.

    Raises:
        EventError: a stored body does not decode.
    """
    found = []
    for stored in stream:
        if stored.type in _EVALUATING:
            found += _read(stored) if stored.schema == SCHEMAS[stored.type] else given([decode(stored)])
    return found


def other_model(evaluation: Evaluation) -> str | None:
    """The model that answered, where it is another than the one that was asked."""
    return evaluation.model_version if _given(FINAL, evaluation).by_another else None


def is_stand_in(evaluation: Evaluation) -> bool:
    """Whether somebody simulated answered under a model's name."""
    return evaluation.simulated and not evaluation.model.startswith("simulated/")


def is_simulated(opened: DebateOpened, evaluations: Iterable[Given]) -> bool:
    """Whether the panel, or whoever answered for a model of it, is simulated."""
    return opened.simulated or any(one.simulated for one in evaluations)


def model_mismatches(evaluations: Iterable[Given]) -> list[dict[str, Any]]:
    """Where another model answered than was asked: `{juror_id, step, asked, answered}`; null is the final judge."""
    return [
        {"juror_id": one.step.juror_id, "step": one.step.id, "asked": one.asked, "answered": one.answered}
        for one in evaluations
        if one.by_another
    ]


def _given(step: Step, evaluation: Evaluation) -> Given:
    return Given(step, evaluation.model, evaluation.model_version, evaluation.simulated)


def _read(stored: StoredEvent) -> list[Given]:
    try:
        body = json.loads(stored.body)
        match stored.type:
            case "juror_evaluated":
                step, held = Step(0, body["juror_id"]), body["evaluation"]
            case "statement_made":
                step, held = Step(body["round"], body["juror_id"]), body["statement"]["evaluation"]
            case _:
                step, held = FINAL, body["judgment"]["judge"]
        return [] if held is None else [Given(step, held["model"], held["model_version"], held["simulated"])]
    except (ValueError, KeyError, TypeError):
        return given([decode(stored)])  # which says what is wrong with it
