"""What the evaluations of a debate quote, and which items they call decisive."""

from collections.abc import Iterable
from typing import NamedTuple

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened, JudgmentRendered, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation
from jury_events.evidence import Evidence, quotes_of
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import FINAL, Step
from jury_views.events_by_phase import Texts


class ShownQuotation(NamedTuple):
    """One entry; `text` is None where the quotations were erased, are missing, or cannot be read."""

    text: str | None
    entry: Evidence


class StepEvaluation(NamedTuple):
    """The evaluation of one step, and the id of its event."""

    event_id: str
    step: Step
    evaluation: Evaluation


class DecisiveItem(NamedTuple):
    """An item, and the steps whose evaluations call it decisive: of each seat the latest one."""

    item: int
    named_by: tuple[StepEvaluation, ...]


def asks_for_evidence(opened: DebateOpened) -> bool:
    """Whether the jurors of a debate are asked for quotations."""
    return opened.panel.answers.evidence != "off"


def quotations(evaluation: Evaluation, texts: Texts) -> tuple[ShownQuotation, ...]:
    """The quotations of an evaluation, in its order; none where it was not asked for any.

    Args:
        evaluation: of a debate.
        texts: parts by the 43 characters of their digest; an erased part is not in it.
    """
    entries = evaluation.evidence or ()
    content = None if evaluation.quotes is None else texts.get(evaluation.quotes.part)
    shown = _quoted_texts(content, len(entries))
    return tuple(map(ShownQuotation, shown, entries))


def _quoted_texts(content: bytes | None, count: int) -> tuple[str | None, ...]:
    """The texts of a part; None for each where the part is not there, or is not what the entries belong to."""
    nothing = (None,) * count
    if content is None:
        return nothing
    try:
        found = quotes_of(content)
    except (ValueError, TypeError, RecursionError):
        return nothing
    return found if len(found) == count and all(isinstance(one, str) for one in found) else nothing


def evaluations_of(events: Iterable[DebateEvent | ExchangeRecorded]) -> list[StepEvaluation]:
    """The evaluations of a debate in order, the final judge's last."""
    found = []
    for event in events:
        match event:
            case JurorEvaluated():
                found.append(StepEvaluation(event.event_id, Step(0, event.juror_id), event.evaluation))
            case StatementMade():
                step = Step(event.round, event.juror_id)
                found.append(StepEvaluation(event.event_id, step, event.statement.evaluation))
            case JudgmentRendered() if event.judgment.judge is not None:
                found.append(StepEvaluation(event.event_id, FINAL, event.judgment.judge))
            case _:
                pass
    return found


def decisive_items(evaluations: Iterable[StepEvaluation]) -> tuple[DecisiveItem, ...]:
    """The items that the latest evaluations of the seats and of the final judge call decisive, in order."""
    latest = {one.step.juror_id: one for one in evaluations if not one.evaluation.synthetic}
    named: dict[int, list[StepEvaluation]] = {}
    for one in latest.values():
        if one.evaluation.decisive_item is not None:
            named.setdefault(one.evaluation.decisive_item, []).append(one)
    return tuple(DecisiveItem(item, tuple(named[item])) for item in sorted(named))
