"""The steps of a running debate that have no event yet, and the state of their model calls.

Statements are recorded in speaker order, so answers may wait for a slower speaker before them. Their texts are not
shown before they are recorded.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
from jury_views.debate_fold import DebateFold, role_of
from jury_web.pages.statement_views import RecordedCall

State = Literal["asked", "retried", "answered", "queued"]


class PendingStep(NamedTuple):
    """The step of a seat, or of the final judge (`role` None).

    asked: its model was called, or will be now. retried: its last call failed (`outcome`) and is repeated. answered:
    its last call was answered; the statement appears after those of `after`. queued: an earlier speaker has its turn.
    `calls` is the number of its recorded calls.
    """

    role: str | None
    state: State
    calls: int = 0
    outcome: CallOutcome | None = None
    after: tuple[str, ...] = ()


class PendingSteps(NamedTuple):
    """The steps of a phase; `round` is 0 in phase 1, None for the final judgment."""

    round: int | None
    steps: tuple[PendingStep, ...]


NOTHING_PENDING = PendingSteps(None, ())


def pending_steps(record: DebateFold, calls: Sequence[RecordedCall]) -> PendingSteps:
    """The pending steps of the current phase or round.

    Args:
        record: the debate up to its last event.
        calls: all its recorded calls.
    """
    panel = record.opened.panel
    if record.ending is not None or record.judgment is not None:
        return NOTHING_PENDING
    if record.phase_1_check is None:
        return PendingSteps(0, _seats(record, 0, _asked(record, calls), record.phase_1, calls))
    if record.rounds and record.rounds[-1].check is None:
        current = record.rounds[-1]
        number, order = current.started.round, current.started.speaker_order
        return PendingSteps(number, _seats(record, number, order, current.spoken, calls))
    if record.discussion_over and panel.final.method == "final_judge":
        return PendingSteps(None, (_of_step(None, "final", calls),))
    return NOTHING_PENDING


def _asked(record: DebateFold, calls: Sequence[RecordedCall]) -> Sequence[str]:
    """The seats that are asked in phase 1 so far; those after the first of an asking plan once they have a call."""
    plan, not_asked = record.opened.asking, record.not_asked
    if plan is None:
        return record.opened.panel.juror_ids
    called = {call.exchange.juror_id for call in calls}
    order = plan.order if not_asked is None else [one for one in plan.order if one not in not_asked.juror_ids]
    return [juror for place, juror in enumerate(order) if place < plan.first or juror in called]


def _seats(
    record: DebateFold,
    number: int,
    order: Sequence[str],
    recorded: Sequence[JurorEvaluated | StatementMade | JurorAbstained],
    calls: Sequence[RecordedCall],
) -> tuple[PendingStep, ...]:
    panel = record.opened.panel
    done = {one.juror_id for one in recorded}
    missing = [juror for juror in order if juror not in done]
    in_turn = number > 0 and panel.discussion.order == "sequential"
    found: list[PendingStep] = []
    for juror in missing:
        role = role_of(panel, juror)
        before = tuple(one.role or "" for one in found if one.state != "answered")
        one = _of_step(role, Step(number, juror).id, calls)
        if in_turn and found:
            one = one._replace(state="queued")
        found.append(one._replace(after=before if one.state in {"answered", "queued"} else ()))
    return tuple(found)


def _of_step(role: str | None, step: str, calls: Sequence[RecordedCall]) -> PendingStep:
    made = [call.exchange for call in calls if call.exchange.step == step]
    if not made:
        return PendingStep(role, "asked")
    last = made[-1]
    if last.outcome is not CallOutcome.ANSWERED:
        return PendingStep(role, "retried", len(made), last.outcome)
    return PendingStep(role, "answered" if _is_answer(last) else "asked", len(made))


def _is_answer(call: ExchangeRecorded) -> bool:
    """Turns that only call tools are not answers."""
    return call.answer is not None and not call.tool_calls
