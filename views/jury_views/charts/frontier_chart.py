"""Geometry of the chart of a frontier: price across, accuracy or agreement up, both from 0."""

from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jury_analysis.frontier import CostFrontier, FrontierPoint

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
