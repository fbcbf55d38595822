"""A debate as live events: server-sent events, WebSocket frames, and types alone; folded from its log, pure."""

import json
import re
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic.alias_generators import to_camel

from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    ConsensusChecked,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    JudgmentRendered,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    StatementMade,
)
from jury_events.errors import InputError
from jury_events.evaluation import Evaluation
from jury_events.exact import exact, half_up
from jury_events.text import visible_line
from jury_views.debate_fold import DebateFold, Phase, Texts, evaluation_of, followed, text_in
from jury_views.reasons import ReasonSteps, texts_of

Live = dict[str, Any]
"""One live event, ready for JSON."""

_PHASES: dict[Phase, tuple[str, int]] = {
    "evaluation": ("initial_evaluation", 1),
    "discussion": ("discussion", 2),
    "judgment": ("final_judgment", 3),
}


# `final_judge_chunk`, `evaluation_failed` and `evaluation_cancelled` are ours: a chunk is a piece of the final
# judge's answer while it is written, and the two others end a debate that has no verdict. Ours too are the reason of
# the judgment, `reasoning_shown` and the phase `reasoning` of the votes after it, and the label beside each verdict,
# of debates whose panel has a scale of its own; else events have the documents' fields alone.
class SseEvents:
    """Turns the events of one debate, in order, into live events; what was said so far is in its fold."""

    def __init__(self) -> None:
        self._fold: DebateFold | None = None
        self._texts: dict[str, bytes] = {}

    def take(self, event: DebateEvent, texts: Texts) -> list[Live]:
        """The live events that `event` gives; a text that is not in `texts` was erased and is null."""
        phases = 0 if self._fold is None else len(self._fold.phases)
        self._fold = fold = followed(self._fold, event)
        if evaluation_of(event) is not None:
            self._texts.update(texts)
        begun = [_phase(one.phase) for one in fold.phases[phases:]]
        said = self._said(event, fold, texts)
        return [*said, *begun] if isinstance(event, ConsensusChecked) else [*begun, *said]

    def _said(self, event: DebateEvent, fold: DebateFold, texts: Texts) -> list[Live]:
        match event:
            case JurorEvaluated():
                evaluation = event.evaluation
                return [{**_evaluation(event, texts), **label_of(fold, "label", evaluation.label)}]
            case ReasoningShown():
                return [{"type": "reasoning_shown"}]
            case RoundStarted():
                started = {
                    "type": "discussion_round_start",
                    "round": event.round,
                    "speaker_order": list(event.speaker_order),
                }
                return [started]
            case StatementMade():
                said = _statement(event, submission_of(fold), texts)
                return [{**said, **label_of(fold, "newLabel", event.statement.evaluation.label)}]
            case ConsensusChecked():
                return [_check(event)] if event.round else []
            case JudgmentRendered():
                judgment = event.judgment
                shown = {"finalVerdict": judgment.verdict.value, "finalScore": judgment.score}
                label = label_of(fold, "finalLabel", judgment.label)
                return [{"type": "final_judgment", **shown, **label, **self._why(event, fold)}]
            case DebateCompleted():
                shown = {"verdict": event.outcome.verdict, "score": event.outcome.score}
                return [{"type": "evaluation_completed", **shown, **label_of(fold, "label", event.final_label)}]
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

    def _why(self, event: JudgmentRendered, fold: DebateFold) -> Live:
        made = {one.step: one.evaluation for one in fold.evaluations}
        erased = {ref.part for ref in texts_of(made.values())} - self._texts.keys()
        why = ReasonSteps(event.judgment, fold.answers).reason(made, self._texts, erased).data()
        decisive = why["decisive"] and {to_camel(name): value for name, value in why["decisive"].items()}
        return {"reason": why["reason"], "reasonBy": why["reason_by"], "decisive": decisive}


def submission_of(fold: DebateFold) -> str:
    """The id under which the documents know the debate."""
    return fold.opened.submission_id or fold.opened.debate_id


def label_of(fold: DebateFold, name: str, label: str | None) -> Live:
    """The label beside a verdict, of debates whose panel has a scale of its own."""
    return {} if fold.opened.panel.scale is None else {name: label}


def whole_score(evaluation: Evaluation) -> int:
    """The overall score as live events give it: a whole number, 0-100, halves rounded up."""
    return half_up(exact(evaluation.overall))


def _phase(phase: Phase) -> Live:
    name, number = _PHASES[phase]
    return {"type": "phase_change", "phase": name, "phaseNumber": number}


def _evaluation(event: JurorEvaluated, texts: Texts) -> Live:
    return {
        "type": "juror_evaluation",
        "phase": "reasoning" if event.reasoning else "initial",
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


_HUNDREDTHS = 100


# A frame is document 004's object with `type`, and `position` to go on from. In debates whose panel has a scale of its
# own, a label stands beside each verdict.
class Frames:
    """Turns the events of one debate, in order, into frames."""

    def __init__(self) -> None:
        self._fold: DebateFold | None = None

    def take(self, event: DebateEvent, texts: Texts) -> list[Live]:
        """The frames that `event` gives, without their position; an erased statement is null."""
        self._fold = followed(self._fold, event)
        return _frames(event, self._fold, texts)

    def chunk(self, _text: str) -> list[Live]:
        """Document 004 has no frame for it."""
        return []

    def call(self) -> list[Live]:
        """The documents have no frame for it."""
        return []


def _frames(event: DebateEvent, fold: DebateFold, texts: Texts) -> list[Live]:
    def head(kind: str, number: int) -> Live:
        return {"type": kind, "submissionId": submission_of(fold), "round": number}

    match event:
        case RoundStarted():
            return [{**head("round_started", event.round), "speakerOrder": list(event.speaker_order)}]
        case StatementMade():
            said = event.statement
            return [
                {
                    **head("juror_statement", event.round),
                    "juror": event.juror_id,
                    "statement": text_in(texts, said.statement),
                    "positionChanged": said.position_changed,
                    "newVerdict": said.position.value,
                    "newScore": whole_score(said.evaluation),
                    **label_of(fold, "newLabel", said.evaluation.label),
                }
            ]
        case ConsensusChecked() if event.round:
            check = event.check
            return [
                {
                    **head("round_completed", event.round),
                    "consensusStatus": check.status.value,
                    "agreementLevel": half_up(check.agreement * _HUNDREDTHS) / _HUNDREDTHS,
                    "majorityPosition": check.majority_position.value if check.majority_position else None,
                    **label_of(fold, "majorityLabel", check.majority_label),
                }
            ]
        case _:
            return []


CALL = "exchange_recorded"


class ProgressEvents:
    """Turns each event and each model call of a debate into a live event with its type."""

    def take(self, event: DebateEvent, _texts: Texts) -> list[Live]:
        """The type of the log event."""
        return [{"type": event.type}]

    def chunk(self, text: str) -> list[Live]:
        """As `SseEvents.chunk`."""
        return [{"type": "final_judge_chunk", "chunk": text}]

    def call(self) -> list[Live]:
        """One a call, without its id."""
        return [{"type": CALL}]


_WHOLE = 2**31
_PIECE, _CHUNK = 0, 1
_FORM = re.compile(r"([0-9]{1,18})(?:([.~])([0-9]{1,9}))?", re.ASCII)


class BadPoint(InputError):
    """A reader names a place to go on from that is none."""


# The live event of the log event at position 17 is `17`. If there are several, those before the last are `17.0`, `17.1`
# …; chunks that the final judge writes after it, which are not in the log, are `17~1`, `17~2` ….
class Point(NamedTuple):
    """Ordered as the live events. Made by the functions below."""

    position: int
    kind: int = _PIECE
    number: int = _WHOLE

    def __str__(self) -> str:
        if self.kind == _CHUNK:
            return f"{self.position}~{self.number}"
        return str(self.position) if self.number == _WHOLE else f"{self.position}.{self.number}"


START = Point(0)
"""Before every live event."""


def pieces(position: int, count: int) -> list[Point]:
    """The points of the `count` live events of one log event."""
    return [Point(position, _PIECE, number if number < count - 1 else _WHOLE) for number in range(count)]


def chunk_point(position: int, number: int) -> Point:
    """The point of the `number`th chunk of the final judge's answer after the log event at `position`."""
    return Point(position, _CHUNK, number)


def parse_point(text: str) -> Point:
    """The inverse of `str`."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadPoint(
            f"{visible_line(text, 60)!r} is not the id of a live event; send that of the last event received, as 17"
        )
    position, mark, number = found.groups()
    if mark is None:
        return Point(int(position))
    return Point(int(position), _CHUNK if mark == "~" else _PIECE, int(number))


T = TypeVar("T")


class Fold(Protocol):
    """Turns the events of one debate, in order, into live events."""

    def take(self, event: DebateEvent, texts: Texts) -> list[Any]:
        """The live events of `event`; `texts` has its texts that are not erased."""
        ...

    def chunk(self, text: str) -> list[Any]:
        """The live events of a chunk of the final judge's answer."""
        ...

    def call(self) -> list[Any]:
        """The live events of a recorded model call."""
        ...


class Encoding(NamedTuple, Generic[T]):
    """`fold` creates the fold of a debate; `write` encodes one live event and its point."""

    name: str
    fold: Callable[[], Fold]
    write: Callable[[Point, Any], T]


class LiveEvent(NamedTuple):
    """A live event of `SseEvents`, and its point as the id."""

    id: str
    event: Live


def _as_it_is(point: Point, event: Live) -> LiveEvent:
    return LiveEvent(str(point), event)


def _sse(point: Point, event: Live) -> bytes:
    # One line of JSON, so that no text can end the line and begin another event.
    return f"id: {point}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _frame(point: Point, event: Live) -> str:
    placed = {"type": event["type"], "position": point.position, **event}
    return json.dumps(placed, ensure_ascii=False)


class LoggedEvent(NamedTuple):
    """An event of the log, and its texts that are not erased."""

    event: DebateEvent
    texts: Texts


class _LogEvents:
    """The events of the log, unchanged."""

    def take(self, event: DebateEvent, texts: Texts) -> list[Any]:
        return [LoggedEvent(event, texts)]

    def chunk(self, _text: str) -> list[Any]:
        return []

    def call(self) -> list[Any]:
        return []


def _log_event(_point: Point, logged: LoggedEvent) -> LoggedEvent:
    return logged


LIVE_EVENTS: Encoding[LiveEvent] = Encoding("live-events", SseEvents, _as_it_is)
"""For callers in this process."""
PROGRESS: Encoding[bytes] = Encoding("progress", ProgressEvents, _sse)
"""The types of new events, as server-sent events: the pages read the debate itself."""
SSE: Encoding[bytes] = Encoding("sse", SseEvents, _sse)
"""Server-sent events, UTF-8 bytes."""
FRAMES: Encoding[str] = Encoding("frames", Frames, _frame)
"""WebSocket frames, JSON."""
LOG_EVENTS: Encoding[LoggedEvent] = Encoding("log-events", _LogEvents, _log_event)
"""The events of the log, for `terminal.live_lines`."""
