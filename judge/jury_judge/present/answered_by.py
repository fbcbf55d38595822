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
from jury_events.verdict import Verdict

_EVALUATING = frozenset({"juror_evaluated", "statement_made", "judgment_rendered"})


class AnsweredBy(NamedTuple):
    """Who gave an evaluation in a step: the model that was asked, the one that answered, or nobody's (`simulated`).

    And what was given: its verdict, whether it stands in for a blocked answer (`synthetic`), and, of a statement, what
    is recorded as `position_changed`.
    """

    step: Step
    asked: str
    answered: str | None
    simulated: bool
    verdict: Verdict
    synthetic: bool
    position_changed: bool = False

    @property
    def by_another(self) -> bool:
        """Whether another model answered than was asked."""
        return not self.simulated and is_other_model(self.asked, self.answered)


def answers(events: Iterable[DebateEvent | ExchangeRecorded]) -> list[AnsweredBy]:
    """Who gave the evaluations of a debate, in order, the final judge's last."""
    found = []
    for event in events:
        match event:
            case JurorEvaluated():
                found.append(answered_in_phase_1(event))
            case StatementMade():
                found.append(answered_in_statement(event))
            case JudgmentRendered() if event.judgment.judge is not None:
                found.append(_given(FINAL, event.judgment.judge))
            case _:
                pass
    return found


def answered_in_phase_1(event: JurorEvaluated) -> AnsweredBy:
    """Who gave an evaluation on its own."""
    return _given(Step(0, event.juror_id), event.evaluation)


def answered_in_statement(event: StatementMade) -> AnsweredBy:
    """Who gave the evaluation of a statement."""
    made = _given(Step(event.round, event.juror_id), event.statement.evaluation)
    return made._replace(position_changed=event.statement.position_changed)


def answered_in_stream(stream: Iterable[StoredEvent]) -> list[AnsweredBy]:
    """As `given`, of stored events: a list of many debates has no time to decode each evaluation whole.

    Raises:
        EventError: a stored body does not decode.
    """
    found = []
    for stored in stream:
        if stored.type in _EVALUATING:
            found += _read(stored) if stored.schema == SCHEMAS[stored.type] else answers([decode(stored)])
    return found


def other_model(evaluation: Evaluation) -> str | None:
    """The model that answered, where it is another than the one that was asked."""
    return evaluation.model_version if _given(FINAL, evaluation).by_another else None


def is_stand_in(evaluation: Evaluation) -> bool:
    """Whether somebody simulated answered under a model's name."""
    return evaluation.simulated and not evaluation.model.startswith("simulated/")


def is_simulated(opened: DebateOpened, evaluations: Iterable[AnsweredBy]) -> bool:
    """Whether the panel, or whoever answered for a model of it, is simulated."""
    return opened.simulated or any(one.simulated for one in evaluations)


def model_mismatches(evaluations: Iterable[AnsweredBy]) -> list[dict[str, Any]]:
    """Where another model answered than was asked: `{juror_id, step, asked, answered}`; null is the final judge."""
    return [
        {"juror_id": one.step.juror_id, "step": one.step.id, "asked": one.asked, "answered": one.answered}
        for one in evaluations
        if one.by_another
    ]


def _given(step: Step, evaluation: Evaluation) -> AnsweredBy:
    return AnsweredBy(
        step,
        evaluation.model,
        evaluation.model_version,
        evaluation.simulated,
        evaluation.verdict,
        evaluation.synthetic,
    )


def _read(stored: StoredEvent) -> list[AnsweredBy]:
    try:
        body = json.loads(stored.body)
        changed = False
        match stored.type:
            case "juror_evaluated":
                step, held = Step(0, body["juror_id"]), body["evaluation"]
            case "statement_made":
                statement = body["statement"]
                step, held = Step(body["round"], body["juror_id"]), statement["evaluation"]
                changed = statement["position_changed"]
            case _:
                step, held = FINAL, body["judgment"]["judge"]
        if held is None:
            return []
        asked = held["model"], held["model_version"], held["simulated"]
        return [AnsweredBy(step, *asked, Verdict(held["verdict"]), held["synthetic"], changed)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return answers([decode(stored)])  # which says what is wrong with it
