"""Tables and charts by seat: positions by round, quoted items, the calls over time, and the steps that are awaited."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from jury_events.debate_events import JurorAbstained, JurorEvaluated, StatementMade
from jury_events.envelope import StoredEvent
from jury_events.evidence import Says
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck
from jury_events.outcome import CallOutcome
from jury_events.panel import Panel
from jury_events.reading import RecordRead
from jury_judge.comparisons.comparison import Position, positions
from jury_views.debate_fold import DebateFold, StepEvaluation, role_of
from jury_views.judgment_lines import VoteColumn, vote_columns
from jury_web.pages.citations import JUDGE, Citations
from jury_web.pages.statement_views import RecordedCall


class Cell(NamedTuple):
    """The position of a seat, and the version of its event: one that stands is of phase 1."""

    position: Position
    version: int | None


class MatrixRow(NamedTuple):
    """One seat; a cell is None where it has no position (yet)."""

    juror_id: str
    role: str
    model: str
    cells: tuple[Cell | None, ...]


class CheckLine(NamedTuple):
    """A consensus check, after phase 1 (`round` 0) or a round."""

    round: int
    check: ConsensusCheck
    version: int


class Matrix(NamedTuple):
    """`checks`: one a column, None before it."""

    columns: tuple[VoteColumn, ...]
    rows: tuple[MatrixRow, ...]
    checks: tuple[CheckLine | None, ...]


def matrix(record: DebateFold, versions: dict[str, int], seats: int | None = None, latest: int | None = None) -> Matrix:
    panel = record.opened.panel
    columns = tuple(vote_columns(record, latest))
    by_seat = positions(record)
    spoken = {step: versions[said.event_id] for step, said in record.spoken}
    return Matrix(
        columns=columns,
        rows=tuple(
            MatrixRow(
                seat.juror_id,
                role_of(panel, seat.juror_id),
                seat.model,
                tuple(
                    Cell(by_seat[step], spoken.get(step, spoken.get(Step(0, seat.juror_id))))
                    if (step := column.step(seat.juror_id)) in by_seat
                    else None
                    for column in columns
                ),
            )
            for seat in panel.seats[:seats]
        ),
        checks=tuple(
            None if one.check is None else CheckLine(one.round, one.check, _check_version(one.round, versions))
            for one in columns
        ),
    )


def _check_version(number: int, versions: dict[str, int]) -> int:
    return versions[f"round-{number}/check" if number else "initial/check"]


_COLUMNS = 200
"""Columns of a row; in a longer case several items share one."""

_LINKS = 20
"""Quoted items of a seat that the table links."""

_SIDES: tuple[Says, ...] = ("for", "context", "against")


class StripColumn(NamedTuple):
    """Items `first` to `last`; `x` and `width` are percent of the strip, `href` leads to the first of them."""

    first: int
    last: int
    x: float
    width: float
    href: str | None = None


class StripMark(NamedTuple):
    """Quotations of one side in one column; `stands`: one of them is in the item, as the check found."""

    column: StripColumn
    says: Says
    stands: bool


class StripSeat(NamedTuple):
    """The row of a seat, or of the final judge, where `role` is None.

    `links` are the numbers and addresses of the first items that it quotes, `more` the number of the others. `counts`
    are quoted items by side, `standing` those with a quotation that is in the item. `read` is `reading` of its last
    evaluation; None: the whole case, in one call. `spoke`: it has an evaluation.
    """

    role: str | None
    spoke: bool
    marks: tuple[StripMark, ...]
    decisive: StripColumn | None
    unread: tuple[StripColumn, ...]
    counts: Mapping[Says, int]
    standing: int
    links: tuple[tuple[int, str | None], ...]
    more: int
    read: RecordRead | None


class ItemStrip(NamedTuple):
    """The rows in the order of the seats; `items` is the number of items of the case, `each` those of a column."""

    seats: tuple[StripSeat, ...]
    items: int
    each: int


def item_strip(
    panel: Panel,
    evaluations: Iterable[StepEvaluation],
    citations: Citations,
    *,
    rows: int | None = None,
) -> ItemStrip | None:
    """The strip; None where jurors are not asked for quotations, or no item has a number.

    Args:
        evaluations: in the order of the record.
        citations: of the same debate, for links.
        rows: seats at most; None: all.
    """
    if not citations.asked or not citations.last_item:
        return None
    made: dict[str | None, list[StepEvaluation]] = {}
    for one in evaluations:
        if not one.evaluation.synthetic:
            made.setdefault(one.step.juror_id, []).append(one)
    row = _Rows(citations)
    seats = [row.seat(role_of(panel, seat), made.get(seat, ())) for seat in panel.juror_ids[:rows]]
    if JUDGE in made:
        seats.append(row.seat(None, made[JUDGE]))
    return ItemStrip(tuple(seats), citations.last_item, row.each)


class _Rows:
    def __init__(self, citations: Citations) -> None:
        self._citations = citations
        self._items = citations.last_item
        self.each = -(-self._items // _COLUMNS)

    def seat(self, role: str | None, made: Sequence[StepEvaluation]) -> StripSeat:
        entries = [entry for one in made for entry in one.evaluation.evidence or () if entry.seat is None]
        quoted = sorted({(one.item, one.says, one.supports) for one in entries if 1 <= one.item <= self._items})
        numbers = list(dict.fromkeys(number for number, _, _ in quoted))
        decisive = made[-1].evaluation.decisive_item if made else None
        read = made[-1].evaluation.reading if made else None
        unread = () if read is None else read.unread
        return StripSeat(
            role=role,
            spoke=bool(made),
            marks=tuple(self._marks(quoted)),
            decisive=None if decisive is None or not 1 <= decisive <= self._items else self._column(decisive, decisive),
            unread=tuple(self._column(span.first, span.last) for span in unread),
            counts=Counter(says for _, says in {(number, says) for number, says, _ in quoted}),
            standing=len({number for number, _, stands in quoted if stands}),
            links=tuple((number, self._citations.item_link(number)) for number in numbers[:_LINKS]),
            more=max(0, len(numbers) - _LINKS),
            read=read,
        )

    def _marks(self, quoted: list[tuple[int, Says, bool]]) -> Iterator[StripMark]:
        for side in _SIDES:
            of_side = [(number, stands) for number, says, stands in quoted if says == side]
            for _, group in groupby(of_side, key=lambda one: (one[0] - 1) // self.each):
                found = list(group)
                column = self._column(found[0][0], found[-1][0])
                yield StripMark(column, side, any(stands for _, stands in found))

    def _column(self, first: int, last: int) -> StripColumn:
        """From the beginning of the column of `first` to the end of that of `last`."""
        begin, end = (first - 1) // self.each * self.each, ((last - 1) // self.each + 1) * self.each
        x = 100 * begin / self._items
        width = 100 * min(end, self._items) / self._items - x
        return StripColumn(first, last, round(x, 3), round(width, 3), self._citations.item_link(first))


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
