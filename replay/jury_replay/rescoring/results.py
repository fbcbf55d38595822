"""How debates ended: those that have a result, and what became of the others."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, EndReason, JudgmentRendered
from jury_events.exchange import ExchangeRecorded
from jury_events.judgment import Judgment
from jury_events.panel import Panel


class RowStatus(StrEnum):
    """determined: the new verdict follows from the record. by_assumption: it is there, and rests on what the record
    cannot show; a recount only. undetermined: a step would have been asked otherwise, or a judge that was
    not asked decides. not_applicable: the panel cannot take the setting. unfinished, failed, cancelled: there is no old
    verdict. erased: texts that are needed were erased.
    """

    DETERMINED = "determined"
    BY_ASSUMPTION = "by_assumption"
    UNDETERMINED = "undetermined"
    NOT_APPLICABLE = "not_applicable"
    UNFINISHED = "unfinished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ERASED = "erased"


class Result(NamedTuple):
    """How a debate ended; `end_reason` is None where the rules would have gone on."""

    panel: Panel
    judgment: Judgment
    total_rounds: int
    end_reason: EndReason | None


class Ended(NamedTuple):
    """`result` is None for a debate without one; then `status` and `why` say what became of it."""

    result: Result | None
    status: RowStatus = RowStatus.DETERMINED
    why: str = ""


def ended(panel: Panel, events: Iterable[DebateEvent | ExchangeRecorded]) -> Ended:
    """What the events of a debate held before `panel` came to; only the last ones count."""
    judgment: Judgment | None = None
    for event in events:
        match event:
            case JudgmentRendered():
                judgment = event.judgment
            case DebateCompleted() if judgment is not None:
                return Ended(Result(panel, judgment, event.total_rounds, event.end_reason))
            case DebateFailed():
                return Ended(None, RowStatus.FAILED, f"the debate failed: {event.reason}")
            case DebateCancelled():
                return Ended(None, RowStatus.CANCELLED, f"the debate was cancelled by {event.by}")
            case _:
                pass
    return Ended(None, RowStatus.UNFINISHED, "the debate is not over")
