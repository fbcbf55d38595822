"""A debate as the server-sent events of document 002 and document 004, folded from its log; pure.

`final_judge_chunk`, `evaluation_failed` and `evaluation_cancelled` are ours: a chunk is a piece of the final judge's
answer while it is written, and the two others end a debate that has no verdict. Ours too are the reason of the
judgment, and the label beside each verdict, of debates whose panel has a scale of its own; else events have the
documents' fields alone.
"""

from typing import Any

from pydantic.alias_generators import to_camel

from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    ConsensusChecked,
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateOpened,
    JudgmentRendered,
    JurorEvaluated,
    RoundStarted,
    StatementMade,
)
from jury_events.evaluation import Evaluation
from jury_events.exact import exact, half_up
from jury_views.debate_fold import Texts, answers, text_in
from jury_views.reasons import ReasonSteps, evaluation_of, texts_of

Live = dict[str, Any]
"""One live event, ready for JSON."""

_PHASES = {1: "initial_evaluation", 2: "discussion", 3: "final_judgment"}


class SseEvents:
    """Turns the events of one debate, in order, into live events; remembers its name, whether it has labels, and what
    was said so far, for the reason of its judgment."""

    def __init__(self) -> None:
        self._submission_id: str | None = None
        self._labelled = False
        self._said: list[DebateEvent] = []
        self._texts: dict[str, bytes] = {}

    def take(self, event: DebateEvent, texts: Texts) -> list[Live]:  # noqa: C901  (one case an event)
        """The live events that `event` gives; a text that is not in `texts` was erased and is null."""
        if evaluation_of(event) is not None or isinstance(event, JudgmentRendered):
            self._said.append(event)
            self._texts.update(texts)
        match event:
            case DebateOpened():
                self._submission_id = event.submission_id or event.debate_id
                self._labelled = event.panel.scale is not None
                return []
            case DebateBegun():
                return [_phase(1)]
            case JurorEvaluated():
                evaluation = event.evaluation
                return [{**_evaluation(event, texts), **self._label("label", evaluation.label)}]
            case RoundStarted():
                started = {
                    "type": "discussion_round_start",
                    "round": event.round,
                    "speaker_order": list(event.speaker_order),
                }
                return [_phase(2), started] if event.round == 1 else [started]
            case StatementMade():
                said = _statement(event, self._submission_id, texts)
                return [{**said, **self._label("newLabel", event.statement.evaluation.label)}]
            case ConsensusChecked():
                checked = [_check(event)] if event.round else []
                return [*checked, _phase(3)] if event.end_reason is not None else checked
            case JudgmentRendered():
                judgment = event.judgment
                shown = {"finalVerdict": judgment.verdict.value, "finalScore": judgment.score}
                label = self._label("finalLabel", judgment.label)
                return [{"type": "final_judgment", **shown, **label, **self._why(event)}]
            case DebateCompleted():
                shown = {"verdict": event.outcome.verdict, "score": event.outcome.score}
                return [{"type": "evaluation_completed", **shown, **self._label("label", event.final_label)}]
            case DebateFailed():
                return [{"type": "evaluation_failed", "reason": event.reason}]
            case DebateCancelled():
                return [{"type": "evaluation_cancelled"}]
            case _:
                return []

    def chunk(self, text: str) -> list[Live]:
        """A chunk of the final judge's answer."""
        return [{"type": "final_judge_chunk", "chunk": text}]

    def call(self) -> list[Live]:
        """The documents have none for it."""
        return []

    def _why(self, event: JudgmentRendered) -> Live:
        made = dict(found for said in self._said if (found := evaluation_of(said)) is not None)
        steps = ReasonSteps(event.judgment, answers(self._said))
        erased = {ref.part for ref in texts_of(made.values())} - self._texts.keys()
        why = steps.reason(made, self._texts, erased).data()
        decisive = why["decisive"] and {to_camel(name): value for name, value in why["decisive"].items()}
        return {"reason": why["reason"], "reasonBy": why["reason_by"], "decisive": decisive}

    def _label(self, name: str, label: str | None) -> Live:
        return {name: label} if self._labelled else {}


def whole_score(evaluation: Evaluation) -> int:
    """The overall score as live events give it: a whole number, 0-100, halves rounded up."""
    return half_up(exact(evaluation.overall))


def _phase(number: int) -> Live:
    return {"type": "phase_change", "phase": _PHASES[number], "phaseNumber": number}


def _evaluation(event: JurorEvaluated, texts: Texts) -> Live:
    return {
        "type": "juror_evaluation",
        "phase": "initial",
        "juror": event.juror_id,
        "verdict": event.evaluation.verdict.value,
        "score": whole_score(event.evaluation),
        "rationale": text_in(texts, event.evaluation.rationale),
    }


def _statement(event: StatementMade, submission_id: str | None, texts: Texts) -> Live:
    said = event.statement
    return {
        "type": "juror_statement",
        "phase": "discussion",
        "round": event.round,
        "juror": event.juror_id,
        "submissionId": submission_id,
        "statement": text_in(texts, said.statement),
        "positionChanged": said.position_changed,
        "newVerdict": said.position.value,
        "newScore": whole_score(said.evaluation),
    }


def _check(event: ConsensusChecked) -> Live:
    return {
        "type": "consensus_check",
        "round": event.round,
        "consensus_status": event.check.status.value,
        "consensus_reached": event.check.reached,
    }
