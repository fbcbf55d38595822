"""The waterfall chart of the model calls of a debate, by seat and time."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
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
        started: the events that start rounds, by round.
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
