"""The events of a running debate as lines for a terminal."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    ConsensusChecked,
    CoordinatorResumed,
    DebateBegun,
    DebateCompleted,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    ReasoningShown,
    RoundStarted,
    SeatsNotAsked,
    StatementMade,
)
from jury_events.evaluation import Evaluation
from jury_events.judgment import Judgment
from jury_events.parts import PartRef
from jury_events.text import pluralize, visible_line
from jury_views.debate_fold import (
    Change,
    DebateFold,
    Texts,
    followed,
    is_stand_in,
    other_model,
    role_of,
    text_in,
)
from jury_views.debate_labels import LABELS
from jury_views.judgment_lines import acceptance_line
from jury_views.number_formats import of_hundred

_CHANGED: dict[Change | None, str] = {
    None: "",
    "own": "  [position changed]",
    "synthetic": "  [changed by a provider's filter only]",
}


_NO_TEXTS: Texts = MappingProxyType({})

_SENTENCE = re.compile(r"(?:“[^”]*”|「[^」]*」|[^.!?。！？“「]|[.!?](?!\s|$))*(?:[.!?](?=\s|$)|[。！？])")
"""To its end, which is not in a quotation."""

_LONGEST_REASON = 600
"""Characters."""


class LiveLines:
    """Turns events, in order, into lines; what was said so far is in the fold of the debate."""

    def __init__(self) -> None:
        self._fold: DebateFold | None = None

    def lines(self, event: DebateEvent, texts: Texts = _NO_TEXTS) -> Iterator[str]:  # noqa: C901, PLR0912  (one case an event)
        """The lines that `event` gives, if any.

        Args:
            texts: with those of the event each evaluation, each change of position and the judgment has its reason.
        """
        self._fold = fold = followed(self._fold, event)
        match event:
            case DebateBegun():
                yield "phase 1: independent evaluation"
            case JurorEvaluated():
                changed = _CHANGED[fold.changes.get(event.step)]
                yield f"  {_name(fold, event.juror_id)}: {_view(event.evaluation)}{changed}"
                if changed or not event.reasoning:
                    yield from _first_sentence(texts, event.evaluation.rationale)
            case ReasoningShown():
                yield "phase 1: the agent's reasoning is shown, and each seat judges again"
            case JurorAbstained():
                yield f"  {_name(fold, event.juror_id)}: abstains ({event.reason.value})"
            case SeatsNotAsked():
                seats = ", ".join(_name(fold, one) for one in event.juror_ids)
                yield f"  not asked: {seats}; whatever they answer, it stays {event.settled.word}"
            case RoundStarted():
                yield f"phase 2: discussion, round {event.round}"
            case StatementMade():
                changed = _CHANGED[fold.changes.get(event.step)]
                yield f"  {_name(fold, event.juror_id)}: {_view(event.statement.evaluation)}{changed}"
                if changed:
                    yield from _first_sentence(texts, event.statement.statement)
            case ConsensusChecked():
                check = event.check
                leading = check.majority_label or check.majority_position
                position = f", {leading}" if leading else ""
                yield f"  consensus: {check.status.value}, {check.largest} of {check.seats}{position}"
            case JudgmentRendered():
                yield from _judged(event.judgment, texts)
            case DebateCompleted():
                yield f"completed after {pluralize(event.total_rounds, 'round')} ({event.end_reason})"
            case CoordinatorResumed():
                yield f"  resumed; asked again: {', '.join(event.repeated_steps) or 'nothing'}"
            case _:
                pass


def _name(fold: DebateFold, juror_id: str) -> str:
    return visible_line(role_of(fold.opened.panel, juror_id), 100)


def _judged(judgment: Judgment, texts: Texts) -> Iterator[str]:
    if judgment.judge is not None:
        yield f"  final judge: {_view(judgment.judge)}"
        yield from _reason(text_in(texts, judgment.judge.rationale))
    yield f"phase 3: {judgment.decided_by.value} says {judgment.position.word}, {of_hundred(judgment.score)}"
    if judgment.acceptance is not None:
        yield f"  {acceptance_line(judgment.acceptance, LABELS['en'])}"


def _first_sentence(texts: Texts, ref: PartRef | None) -> Iterator[str]:
    text = text_in(texts, ref)
    if text is not None:
        found = _SENTENCE.match(text.strip())
        yield from _reason(found.group() if found else text)


def _reason(text: str | None) -> Iterator[str]:
    if text is not None:
        yield f"    {visible_line(text.strip(), _LONGEST_REASON)}"


def _view(evaluation: Evaluation) -> str:
    marks = " (neutral, blocked)" if evaluation.synthetic else ""
    if is_stand_in(evaluation):
        marks += " (simulated)"
    if (other := other_model(evaluation)) is not None:
        marks += f" ({visible_line(other, 100)} answered, {evaluation.model} was asked)"
    return f"{evaluation.position.word} {evaluation.overall:g}/100, confidence {evaluation.confidence:g}{marks}"
