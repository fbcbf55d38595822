"""Calls on the page of a debate: those that are awaited, and all of them over time."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.envelope import StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
from jury_views.debate_fold import DebateFold, role_of
from jury_web.pages.statement_views import RecordedCall

_MICROSECONDS = 1_000_000
_TICKS = 4


class CallBar(NamedTuple):
    """One call: `start` in seconds since the first call began, its length in `seconds`, and `waited` seconds before it.

    `x`, `width` and `wait` (the width of the wait before it) are percent of the whole time.
    """

    number: int
    juror_id: str | None
    step: Step
    model: str
    turn: int
    attempt: int
    outcome: CallOutcome
    start: float
    seconds: float
    waited: float
    x: float
    width: float
    wait: float

    @property
    def failed(self) -> bool:
        """Whether it has no answer."""
        return self.outcome is not CallOutcome.ANSWERED


class CallLane(NamedTuple):
    """The calls of one seat, or of the final judge where `juror_id` is None."""

    juror_id: str | None
    bars: tuple[CallBar, ...]


class AxisMark(NamedTuple):
    """A mark at `x` percent of the time axis: the start of `round`, or a tick (None) at `seconds`."""

    x: float
    seconds: float
    round: int | None = None


class Waterfall(NamedTuple):
    """`seconds` from the start of the first call to the end of the last; `bars` in order of start."""

    lanes: tuple[CallLane, ...]
    bars: tuple[CallBar, ...]
    ticks: tuple[AxisMark, ...]
    rounds: tuple[AxisMark, ...]
    seconds: float


def waterfall(
    calls: Sequence[RecordedCall], jurors: Sequence[str], started: Mapping[int, StoredEvent]
) -> Waterfall | None:
    """The chart of calls; None where there are none.

    A call ended when it was stored, and began its latency before. Calls that a fork copied from its origin were stored
    together.

    Args:
        calls: in the order of storage.
        jurors: the lanes, in this order, empty where a juror has no call.
    """
    shown = [call for call in calls if call.exchange.juror_id is None or call.exchange.juror_id in set(jurors)]
    if not shown:
        return None
    begins = [call.recorded_at / _MICROSECONDS - call.exchange.latency_ms / 1000 for call in shown]
    first = min(begins)
    whole = max(max(call.recorded_at for call in shown) / _MICROSECONDS - first, 0.001)
    bars = [_bar(call, begin - first, whole) for call, begin in zip(shown, begins, strict=True)]
    judged = [None] if any(bar.juror_id is None for bar in bars) else []
    rounds = (
        AxisMark(
            100 * (event.recorded_at / _MICROSECONDS - first) / whole, event.recorded_at / _MICROSECONDS - first, n
        )
        for n, event in started.items()
    )
    return Waterfall(
        lanes=tuple(
            CallLane(juror, tuple(bar for bar in bars if bar.juror_id == juror)) for juror in (*jurors, *judged)
        ),
        bars=tuple(sorted(bars, key=lambda bar: (bar.start, bar.number))),
        ticks=tuple(AxisMark(100 * n / _TICKS, whole * n / _TICKS) for n in range(_TICKS + 1)),
        rounds=tuple(one for one in rounds if 0 <= one.x <= 100),  # noqa: PLR2004  (percent)
        seconds=whole,
    )


def _bar(call: RecordedCall, start: float, whole: float) -> CallBar:
    made = call.exchange
    seconds, waited = made.latency_ms / 1000, min(made.waited_ms / 1000, start)
    return CallBar(
        number=call.number,
        juror_id=made.juror_id,
        step=Step.parse(made.step),
        model=made.model,
        turn=made.turn,
        attempt=made.attempt,
        outcome=made.outcome,
        start=start,
        seconds=seconds,
        waited=made.waited_ms / 1000,
        x=round(100 * start / whole, 3),
        width=round(max(100 * seconds / whole, 0.3), 3),
        wait=round(100 * waited / whole, 3),
    )


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
    """The pending steps of the current phase or round."""
    panel = record.opened.panel
    if record.ending is not None or record.judgment is not None:
        return NOTHING_PENDING
    if record.phase_1_check is None:
        again = record.with_reasoning
        asked = _asked(record, calls) if again is None else panel.juror_ids
        said = record.phase_1 if again is None else again
        return PendingSteps(0, _seats(record, 0, asked, said, calls, reasoning=again is not None))
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
    *,
    reasoning: bool = False,
) -> tuple[PendingStep, ...]:
    panel = record.opened.panel
    done = {one.juror_id for one in recorded}
    missing = [juror for juror in order if juror not in done]
    in_turn = number > 0 and panel.discussion.order == "sequential"
    found: list[PendingStep] = []
    for juror in missing:
        role = role_of(panel, juror)
        before = tuple(one.role or "" for one in found if one.state != "answered")
        one = _of_step(role, Step(number, juror, reasoning).id, calls)
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
