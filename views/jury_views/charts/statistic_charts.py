"""Geometry of the SVG charts of statistics. Templates draw them, each beside a table of its numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jury_views.charts.shapes import WIDTH

if TYPE_CHECKING:
    from jury_analysis.confidence import ReliabilityBin
    from jury_analysis.estimate import Estimate

_PALEST, _DARKEST = 0.04, 0.55
"""Opacity of a cell; the text of the darkest is still readable."""


class HeatCell(NamedTuple):
    """A cell of a heat map; `strength` is its opacity."""

    x: float
    y: float
    strength: float
    text: str


class HeatMap(NamedTuple):
    """Cells of `wide` x `tall`; row names are at the left of `left`, column names above."""

    cells: tuple[HeatCell, ...]
    rows: tuple[tuple[str, float], ...]
    """Name and middle of each row."""
    columns: tuple[tuple[str, float], ...]
    """Name and middle of each column."""
    left: float
    wide: float
    tall: float
    height: float


class ReliabilityPoint(NamedTuple):
    """A bin at its mean confidence, with the whisker of its interval (None: no interval)."""

    x: float
    y: float
    low: float | None
    high: float | None


class ReliabilityChart(NamedTuple):
    """Shares of right verdicts over confidence, and a column of the number of verdicts under each bin."""

    points: tuple[ReliabilityPoint, ...]
    line: str
    """The points of an SVG polyline."""
    counts: tuple[tuple[float, float, float, int], ...]
    """x, y, height and number of each column that is not empty."""
    column: float
    size: float
    """Of the square of the curve."""
    base: float
    """y of the baseline of the columns."""
    height: float


class Dot(NamedTuple):
    """A value on an axis from 0 to 1, with the ends of its interval (None: no interval)."""

    name: str
    y: float
    x: float | None
    low: float | None
    high: float | None


class DotPlot(NamedTuple):
    """A line a value."""

    dots: tuple[Dot, ...]
    left: float
    ticks: tuple[tuple[str, float], ...]
    height: float


def heat_map(
    cells: Sequence[Sequence[tuple[float | None, str]]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    left: float = 150.0,
    tall: float = 30.0,
) -> HeatMap:
    """A grid of `(strength from 0 to 1, text)`; a strength of None is an empty cell.

    `left` is the room for the names of rows, `tall` the height of a row.
    """
    top, wide = 20.0, (WIDTH - left) / max(len(columns), 1)
    made = [
        HeatCell(
            round(left + wide * column, 2),
            round(top + tall * row, 2),
            0.0 if strength is None else round(_PALEST + (_DARKEST - _PALEST) * min(1.0, max(0.0, strength)), 3),
            text,
        )
        for row, line in enumerate(cells)
        for column, (strength, text) in enumerate(line)
    ]
    return HeatMap(
        tuple(made),
        tuple((name, round(top + tall * (row + 0.5), 2)) for row, name in enumerate(rows)),
        tuple((name, round(left + wide * (column + 0.5), 2)) for column, name in enumerate(columns)),
        left,
        round(wide, 2),
        tall,
        top + tall * len(rows),
    )


def reliability_chart(bins: "Sequence[ReliabilityBin]", size: float = 260.0) -> ReliabilityChart:
    """The reliability curve: bins without a verdict have no point."""
    points = []
    for one in bins:
        if one.mean_confidence is None or one.rate.value is None:
            continue
        interval = one.rate.interval
        points.append(
            ReliabilityPoint(
                round(size * one.mean_confidence, 2),
                round(size * (1 - one.rate.value), 2),
                None if interval is None else round(size * (1 - interval.low), 2),
                None if interval is None else round(size * (1 - interval.high), 2),
            )
        )
    room, below = 60.0, size + 36.0
    most = max((one.n for one in bins), default=0)
    counts = [
        (round(size * one.low, 2), round(below + room * (1 - one.n / most), 2), round(room * one.n / most, 2), one.n)
        for one in bins
        if one.n
    ]
    line = " ".join(f"{one.x},{one.y}" for one in points)
    return ReliabilityChart(
        tuple(points), line, tuple(counts), round(size / max(len(bins), 1), 2), size, below + room, below + room + 4
    )


def dot_plot(values: "Sequence[tuple[str, Estimate]]", *, left: float = 150.0, tall: float = 26.0) -> DotPlot:
    """Shares from 0 to 1 with their intervals; a value that is not known has no dot."""
    width = WIDTH - left - 24

    def place(share: float | None) -> float | None:
        return None if share is None else round(left + width * share, 2)

    dots = []
    for number, (name, estimate) in enumerate(values):
        interval = estimate.interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        dots.append(Dot(name, round(tall * (number + 0.5), 2), place(estimate.value), place(low), place(high)))
    ticks = tuple((f"{share:.0%}", round(left + width * share, 2)) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return DotPlot(tuple(dots), left, ticks, tall * len(dots))
