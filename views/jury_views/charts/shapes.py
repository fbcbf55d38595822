"""Geometry of the SVG charts. Templates draw them, each beside a table of its numbers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
