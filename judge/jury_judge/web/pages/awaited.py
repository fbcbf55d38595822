"""Whom a running debate waits for, told from the model calls: an answer may be there before it is shown.

Statements are recorded in speaker order. So a slow first speaker holds back what the others have answered already;
nothing of their answers is shown here.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
from jury_judge.views.debate_record import DebateRecord, role_of
from jury_judge.web.pages.spoken import CallLine

State = Literal["asked", "retried", "answered", "queued"]


class Awaited(NamedTuple):
    """A seat, or the final judge (`role` None), of whose step nothing is recorded yet.

    asked: its model was asked, or is about to be. retried: its last call failed (`outcome`), and it is tried again.
    answered: its last call was answered; what it said appears after `held_back_by`. queued: it is not its turn.
    `calls` are those recorded of the step.
    """

    role: str | None
    state: State
    calls: int = 0
    outcome: CallOutcome | None = None
    held_back_by: tuple[str, ...] = ()


class AwaitedInPhase(NamedTuple):
    """`round` is 0 in phase 1, None for the final judgment."""

    round: int | None
    seats: tuple[Awaited, ...]


NOBODY = AwaitedInPhase(None, ())


def awaited(record: DebateRecord, calls: Sequence[CallLine]) -> AwaitedInPhase:
    """Who has not been heard in the phase or round that goes on.

    Args:
        record: the debate as far as its events go.
        calls: every call that is stored of it.
    """
    panel = record.opened.panel
    if record.ending is not None or record.judgment is not None:
        return NOBODY
    if record.phase_1_check is None:
        return AwaitedInPhase(0, _seats(record, 0, panel.juror_ids, record.phase_1, calls))
    if record.rounds and record.rounds[-1].check is None:
        held = record.rounds[-1]
        number, order = held.started.round, held.started.speaker_order
        return AwaitedInPhase(number, _seats(record, number, order, held.spoken, calls))
    if record.discussion_over and panel.final.method == "final_judge":
        return AwaitedInPhase(None, (_of_step(None, "final", calls),))
    return NOBODY


def _seats(
    record: DebateRecord,
    number: int,
    order: Sequence[str],
    heard: Sequence[JurorEvaluated | StatementMade | JurorAbstained],
    calls: Sequence[CallLine],
) -> tuple[Awaited, ...]:
    panel = record.opened.panel
    spoken = {one.juror_id for one in heard}
    missing = [juror for juror in order if juror not in spoken]
    in_turn = number > 0 and panel.discussion.order == "sequential"
    found: list[Awaited] = []
    for juror in missing:
        role = role_of(panel, juror)
        before = tuple(one.role or "" for one in found if one.state != "answered")
        one = _of_step(role, Step(number, juror).id, calls)
        if in_turn and found:
            one = one._replace(state="queued")
        found.append(one._replace(held_back_by=before if one.state in {"answered", "queued"} else ()))
    return tuple(found)


def _of_step(role: str | None, step: str, calls: Sequence[CallLine]) -> Awaited:
    made = [call.exchange for call in calls if call.exchange.step == step]
    if not made:
        return Awaited(role, "asked")
    last = made[-1]
    if last.outcome is not CallOutcome.ANSWERED:
        return Awaited(role, "retried", len(made), last.outcome)
    return Awaited(role, "answered" if _is_answer(last) else "asked", len(made))


def _is_answer(call: ExchangeRecorded) -> bool:
    """Not a turn that only asked for tools."""
    return call.answer is not None and not call.tool_calls
