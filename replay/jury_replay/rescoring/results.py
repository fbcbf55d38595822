"""How debates ended: with a result, or without one and why."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, EndReason, JudgmentRendered
from jury_events.judgment import Judgment
from jury_events.panel import Panel


class RescoreStatus(StrEnum):
    """determined: the new verdict follows from the record. by_assumption (recounts only): it rests on an assumption
    that the record cannot show. undetermined: a step would get another request, or a final judge that was not asked
    decides. not_applicable: the panel cannot take the setting. unfinished, failed, cancelled: there is no old verdict.
    erased: texts that are needed were erased.
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
    """The result of a debate; `end_reason` is None where the rules continue beyond the record.

    `settled`: no answer of a seat that was not asked could change it.
    """

    panel: Panel
    judgment: Judgment
    total_rounds: int
    end_reason: EndReason | None
    settled: bool = True


class RecordedEnd(NamedTuple):
    """`result` is None for a debate without one; then `status` and `why` say why."""

    result: Result | None
    status: RescoreStatus = RescoreStatus.DETERMINED
    why: str = ""


def end_of(panel: Panel, events: Iterable[DebateEvent]) -> RecordedEnd:
    """The end of a debate of `panel`; only its last events count."""
    judgment: Judgment | None = None
    for event in events:
        match event:
            case JudgmentRendered():
                judgment = event.judgment
            case DebateCompleted() if judgment is not None:
                return RecordedEnd(Result(panel, judgment, event.total_rounds, event.end_reason))
            case DebateFailed():
                return RecordedEnd(None, RescoreStatus.FAILED, f"the debate failed: {event.reason}")
            case DebateCancelled():
                return RecordedEnd(None, RescoreStatus.CANCELLED, f"the debate was cancelled by {event.by}")
            case _:
                pass
    return RecordedEnd(None, RescoreStatus.UNFINISHED, "the debate is not over")
