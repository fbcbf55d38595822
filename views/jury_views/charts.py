"""Geometry of the SVG charts. Templates draw them, each beside a table of its numbers."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jury_analysis.accuracy import AgainstLabels
    from jury_analysis.confidence import ReliabilityBin
    from jury_analysis.estimate import Estimate
    from jury_analysis.frontier import CostFrontier, FrontierPoint
    from jury_analysis.statistics import Statistics


WIDTH = 600.0
"""Width of every chart, in SVG units."""


class Segment(NamedTuple):
    """A segment of a bar: `number` items named `name`, a `share` (0 to 1) of all."""

    name: str
    number: int
    share: float
    x: float
    width: float


class Column(NamedTuple):
    """A column from `y` down to the baseline; `marked` of its `value` are highlighted, from `marked_y` down."""

    name: str
    value: float
    marked: float
    x: float
    width: float
    y: float
    height: float
    marked_y: float
    marked_height: float


class Columns(NamedTuple):
    """Columns on a baseline at `height`; a column of the value `most` is `height` high."""

    columns: tuple[Column, ...]
    height: float
    most: float


class Path(NamedTuple):
    """The `points` of an SVG polyline; `most` is the value at the top."""

    points: str
    height: float
    most: float


def stacked_bar(counts: Mapping[str, int]) -> tuple[Segment, ...]:
    """One bar of all counts, in their order, without zeros."""
    total = sum(counts.values())
    segments, x = [], 0.0
    for name, count in counts.items():
        if count:
            width = WIDTH * count / total
            segments.append(Segment(name, count, count / total, round(x, 2), round(width, 2)))
            x += width
    return tuple(segments)


def columns(values: Sequence[tuple[str, float, float]], height: float = 120.0, gap: float = 0.25) -> Columns:
    """Columns of `(name, value, marked)`; `gap` is the share of the width that stays free between columns."""
    most = max((value for _, value, _ in values), default=0.0)
    slot = WIDTH / max(len(values), 1)
    wide = min(slot * (1 - gap), WIDTH / 8)
    made = []
    for place, (name, value, marked) in enumerate(values):
        tall = height * value / most if most else 0.0
        part = height * marked / most if most else 0.0
        made.append(
            Column(
                name,
                value,
                marked,
                x=round(slot * place + (slot - wide) / 2, 2),
                width=round(wide, 2),
                y=round(height - tall, 2),
                height=round(tall, 2),
                marked_y=round(height - part, 2),
                marked_height=round(part, 2),
            )
        )
    return Columns(tuple(made), height, most)


def growing_line(values: Sequence[float], height: float = 120.0, most_points: int = 300) -> Path:
    """The running total of `values`, reduced to about `most_points` points; the last point is always there."""
    totals, total = [0.0], 0.0
    for value in values:
        total += value
        totals.append(total)
    step = max(1, len(totals) // most_points)
    places = sorted({*range(0, len(totals), step), len(totals) - 1})
    last = max(len(totals) - 1, 1)
    points = " ".join(
        f"{WIDTH * place / last:.2f},{height - (height * totals[place] / total if total else 0):.2f}"
        for place in places
    )
    return Path(points, height, total)


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


PLOT_WIDTH, PLOT_HEIGHT = 500.0, 220.0
"""Of the plot in SVG units, without the names of its axes."""

_STEPS = 5
"""Ticks of the price, at most, besides 0."""


class PlottedChoice(NamedTuple):
    """A choice at its price and value; `low` and `high` are the ends of its interval (None: no interval)."""

    number: int
    """Of its row in the table, from 1."""
    x: float
    y: float
    low: float | None
    high: float | None


class FrontierChart(NamedTuple):
    """The choices of a frontier, and the line of the best value at each price."""

    choices: tuple[PlottedChoice, ...]
    line: str
    """The points of an SVG polyline: level up to the price of the next choice."""
    prices: tuple[tuple[float, float], ...]
    """Price and x of each tick."""
    values: tuple[tuple[float, float], ...]
    """Value and y of each tick."""
    width: float
    height: float


def frontier_chart(found: "CostFrontier", shown: "tuple[FrontierPoint, ...]") -> FrontierChart:
    """The chart of the choices that are shown; a choice without a value is left out.

    The price is what `found.measure` says: dollars or calls a case, else votes a case.
    """
    plotted = [(number, price_of(found, one), one) for number, one in enumerate(shown, 1)]
    step = _step(max((price for _, price, _ in plotted), default=0.0))
    ticks = max(1, ceil(max((price for _, price, _ in plotted), default=0.0) / step - 1e-9))
    most = step * ticks

    def across(price: float) -> float:
        return round(PLOT_WIDTH * price / most, 2)

    def up(value: float) -> float:
        return round(PLOT_HEIGHT * (1 - value), 2)

    choices = []
    for number, price, one in plotted:
        if one.value.value is not None:
            interval = one.value.interval
            low, high = (None, None) if interval is None else (up(interval.low), up(interval.high))
            choices.append(PlottedChoice(number, across(price), up(one.value.value), low, high))
    return FrontierChart(
        choices=tuple(choices),
        line=_stairs(choices),
        prices=tuple((round(step * tick, 10), across(step * tick)) for tick in range(ticks + 1)),
        values=tuple((share, up(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
        width=PLOT_WIDTH,
        height=PLOT_HEIGHT,
    )


def price_of(found: "CostFrontier", point: "FrontierPoint") -> float:
    """What a choice costs a case, in the frontier's measure."""
    if found.measure is None:
        return float(len(point.seats) * (point.rounds + 1))
    price = {"cost": point.cost, "calls": point.calls, "tokens": point.tokens}[found.measure]
    return 0.0 if price is None else price


def _step(most: float) -> float:
    """1, 2 or 5 times a power of ten, of which at most `_STEPS` reach `most`."""
    if most <= 0:
        return 1.0
    rough = most / _STEPS
    power = 10.0 ** floor(log10(rough))
    return next((power * times for times in (1, 2, 5) if power * times >= rough * (1 - 1e-9)), power * 10)


def _stairs(choices: list[PlottedChoice]) -> str:
    points: list[str] = []
    for place, one in enumerate(choices):
        points.append(f"{one.x},{one.y}")
        end = choices[place + 1].x if place + 1 < len(choices) else PLOT_WIDTH
        points.append(f"{end},{one.y}")
    return " ".join(points)


class LabelledPanel(NamedTuple):
    """The final verdicts of one panel, or its plurality where none is known, as the statistics count them."""

    panel: str | None
    found: "AgainstLabels"


def labelled_panels(report: "Statistics") -> tuple[LabelledPanel, ...]:
    panels = []
    for one in report.panels:
        against = one.against_labels
        if against.labelled:
            found = against.panel if against.jury is None else against.jury
            panels.append(LabelledPanel(one.panel, found))
    return tuple(panels)
