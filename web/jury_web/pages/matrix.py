"""Tables by seat: of positions by round, with the consensus checks below, and of what each seat quotes by item."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from jury_events.evidence import Says
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck
from jury_events.panel import Panel
from jury_events.reading import RecordRead
from jury_judge.comparisons.comparison import Position, positions
from jury_views.debate_fold import DebateFold, StepEvaluation, role_of
from jury_web.pages.citations import JUDGE, Citations


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


class MatrixColumn(NamedTuple):
    """Phase 1 (`round` 0), once more with the agent's reasoning where the seats judged again, or a round."""

    round: int
    reasoning: bool = False


class CheckLine(NamedTuple):
    """A consensus check, after phase 1 (`round` 0) or a round."""

    round: int
    check: ConsensusCheck
    version: int


class Matrix(NamedTuple):
    """`columns`: phase 1, then the started rounds, each with its check, None before it.

    Where the seats judged twice in phase 1, the check of phase 1 is of the second column.
    """

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    checks: tuple[CheckLine | None, ...]


def matrix(record: DebateFold, versions: dict[str, int], seats: int | None = None, latest: int | None = None) -> Matrix:
    """The table of a debate up to its last event."""
    panel = record.opened.panel
    shown_rounds = record.rounds[-latest:] if latest else record.rounds
    again = record.with_reasoning is not None
    columns = (MatrixColumn(0), *([MatrixColumn(0, reasoning=True)] if again else []))
    checks = (*([None] if again else []), record.phase_1_check, *(one.check for one in shown_rounds))
    columns += tuple(MatrixColumn(one.started.round) for one in shown_rounds)
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
                    if (step := Step(column.round, seat.juror_id, column.reasoning)) in by_seat
                    else None
                    for column in columns
                ),
            )
            for seat in panel.seats[:seats]
        ),
        checks=tuple(
            None if check is None else CheckLine(column.round, check, _check_version(column.round, versions))
            for column, check in zip(columns, checks, strict=True)
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
