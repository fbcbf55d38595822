"""Stages on the frontier: a few seats first, and the whole panel where they differ, from recorded votes alone.

Nothing is promised of what the first seats agree on: `jury_analysis.ladders` certifies that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from jury_analysis.accuracy import decided
from jury_analysis.estimate import Estimate
from jury_analysis.frontier import CostFrontier
from jury_analysis.intervals import proportion
from jury_analysis.seat_value import StepCosts
from jury_analysis.vote_matrix import Bools, Codes, Floats, VoteMatrix

FIRST_SEATS = (2, 3)
"""How many seats are tried before the panel."""

RANKED = 12
"""The seats of which the first ones are chosen, where a panel has more: C(12, 2) + C(12, 3) = 286 choices."""


@dataclass(frozen=True)
class StagedPoint:
    """Some seats first; a verdict that all of them give stands, and every other case is judged by the whole panel."""

    seats: tuple[str, ...]
    """Of the first stage. The panel asks all of its seats anew."""
    early: Estimate
    """Units that end at the first stage / all that are counted."""
    value: Estimate
    """As of `FrontierPoint`."""
    decided: float
    cost: float | None
    """US dollars a case; None where a cost is not known."""
    calls: float | None
    votes: float
    """Seats that are asked a case, in the first evaluation of each stage."""
    on_frontier: bool
    """No other point, staged or not, costs at most as much and is at least as good, one of both strictly."""


def staged_points(
    matrix: VoteMatrix, costs: StepCosts, whole: Codes, found: CostFrontier, ranking: Sequence[str]
) -> tuple[StagedPoint, ...]:
    """Ladders of two stages, by cost and then by value; () for panels of fewer than three seats.

    Args:
        matrix: of round 0.
        costs: of the steps as they were recorded.
        whole: [units], verdicts of the whole panel.
        found: the frontier of single panels: its goal, and what it takes for the cost.
        ranking: the seats, the most valuable first.
    """
    truth = matrix.labels if found.goal == "accuracy" else whole
    counted = np.asarray(truth >= 0)
    if len(matrix.seats) < 3 or not counted.any():  # noqa: PLR2004  (two seats are the whole panel)
        return ()
    points = [_point(matrix, costs, whole, truth, counted, first) for first in _choices(matrix, ranking)]
    return _marked(points, found)


def _choices(matrix: VoteMatrix, ranking: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The places of the first stage's seats."""
    chosen = sorted(matrix.seats.index(seat) for seat in ranking[:RANKED])
    for size in FIRST_SEATS:
        if size < len(matrix.seats):
            yield from combinations(chosen, size)


def _point(  # noqa: PLR0917  (what a choice is judged by)
    matrix: VoteMatrix, costs: StepCosts, whole: Codes, truth: Codes, counted: Bools, first: tuple[int, ...]
) -> StagedPoint:
    votes = matrix.votes[:, list(first)]
    asks = [matrix.scale.categories.index(name) for name in matrix.scale.for_people]
    agreed = np.asarray((votes == votes[:, :1]).all(axis=1) & (votes[:, 0] >= 0) & ~np.isin(votes[:, 0], asks))
    given = decided(np.where(agreed, votes[:, 0], whole), matrix.scale)

    def mean(steps: Floats) -> float | None:
        spent = steps[:, 0, list(first)].sum(axis=1) + np.where(agreed, 0.0, steps.sum(axis=(1, 2)))
        total = float(spent.mean())
        return None if np.isnan(total) else total

    return StagedPoint(
        seats=tuple(matrix.seats[place] for place in first),
        early=proportion(agreed, counted, matrix.clusters),
        value=proportion((given == truth) & (given >= 0), counted, matrix.clusters),
        decided=float((given >= 0)[counted].mean()),
        cost=mean(costs.cost),
        calls=mean(costs.calls),
        votes=len(first) + float((~agreed).mean()) * len(matrix.seats),
        on_frontier=False,
    )


def _marked(points: Sequence[StagedPoint], found: CostFrontier) -> tuple[StagedPoint, ...]:
    def price(point: StagedPoint) -> float:
        if found.measure == "cost":
            return point.cost or 0.0
        return (point.calls or 0.0) if found.measure == "calls" else point.votes

    def single(place: int) -> float:
        one = found.points[place]
        if found.measure == "cost":
            return one.cost or 0.0
        return (one.calls or 0.0) if found.measure == "calls" else float(len(one.seats) * (one.rounds + 1))

    known = [(single(place), one.value.value or 0.0) for place, one in enumerate(found.points)]
    ordered = sorted(points, key=lambda one: (price(one), -(one.value.value or 0.0), one.seats))
    best, marked = -1.0, []
    for one in ordered:
        value = one.value.value or 0.0
        beaten = any(other <= price(one) and better >= value for other, better in known)
        marked.append(replace(one, on_frontier=value > best and not beaten))
        best = max(best, value)
    return tuple(marked)
