"""What fewer seats or fewer rounds would have cost and decided: the frontier of cost against accuracy."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from jury_analysis.accuracy import decided
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import FIRST_ROUND
from jury_analysis.seat_value import StepCosts
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix

Goal = Literal["accuracy", "agreement"]
Measure = Literal["cost", "calls", "tokens"]


class SmallerPanel(NamedTuple):
    """The verdicts of some seats after at most some rounds."""

    seats: tuple[str, ...]
    rounds: int
    """Rounds of discussion at most; 0: the first evaluation decides."""
    verdicts: Codes
    """[units]: -1 where there is none."""
    total_rounds: Ints
    """[units]: how many rounds of discussion there were."""
    exact: Bools
    """[units]: the verdict follows from the record. Otherwise it assumes that the seats would have said the same."""


@dataclass(frozen=True)
class FrontierPoint:
    """One choice of seats and rounds."""

    seats: tuple[str, ...]
    rounds: int
    value: Estimate
    """Accuracy over labelled units, or agreement with the whole panel over all: an undecided verdict is neither."""
    decided: float
    """Share of the same units with a verdict that is no abstention."""
    cost: float | None
    """US dollars a case; None where a cost is not known."""
    calls: float | None
    """Model calls a case."""
    tokens: float | None
    """Tokens a case, input and output."""
    by_assumption: int
    """Units whose verdict assumes that seats would have said the same without the others."""
    on_frontier: bool
    """No other point costs at most as much and is at least as good, one of both strictly."""


@dataclass(frozen=True)
class CostFrontier:
    """All choices that were tried, and which of them are worth considering."""

    goal: Goal
    measure: Measure | None
    """What `on_frontier` takes for the cost: dollars where all are known and some are above 0, else calls; None where
    calls are not known either: then a seat's vote in a round counts as one."""
    units: int
    """Labelled units, or all: what the shares are of."""
    tried: int
    """Points. The best of many on the same labels is biased upwards: confirm it on other cases."""
    by_assumption: bool
    """Whether any point rests on the assumption that seats would have said the same without the others."""
    points: tuple[FrontierPoint, ...]
    """By cost, then by value."""


@dataclass(frozen=True)
class RoundWorth:
    """What one round of discussion changes: all seats, at most so many rounds."""

    rounds: int
    value: Estimate
    """As of a `FrontierPoint`."""
    gain: Estimate
    """value - value after one round less, over the same units."""
    p_value: float | None
    """Two-sided, of no gain."""
    decided: float
    cost: float | None
    calls: float | None
    tokens: float | None
    by_assumption: int


def frontier(matrix: VoteMatrix, costs: StepCosts, panels: Iterable[SmallerPanel], whole: Codes) -> CostFrontier:
    """Cost against accuracy, or agreement with `whole` without labels.

    Args:
        matrix: of round 0: labels, clusters and seats.
        costs: of the steps as they were recorded. Those of a discussion would differ with fewer seats.
        panels: the choices; each has verdicts in the order of the matrix's units.
        whole: [units], verdicts of the whole panel.
    """
    goal, truth = _goal(matrix, whole)
    counted = truth >= 0
    points = [_point(matrix, costs, panel, truth, counted) for panel in panels]
    measure = _measure(points)
    points.sort(
        key=lambda one: (_price(one, measure), -(one.value.value or 0.0), len(one.seats), one.rounds, one.seats)
    )
    best, marked = -1.0, []
    for one in points:
        value = -1.0 if one.value.value is None else one.value.value
        marked.append(replace(one, on_frontier=value > best))
        best = max(best, value)
    return CostFrontier(
        goal=goal,
        measure=measure,
        units=int(np.count_nonzero(counted)),
        tried=len(points),
        by_assumption=any(one.by_assumption for one in points),
        points=tuple(marked),
    )


def round_worth(
    matrix: VoteMatrix, costs: StepCosts, panels: Sequence[SmallerPanel], whole: Codes
) -> tuple[RoundWorth, ...]:
    """The worth of each round: `panels` are the whole panel after at most 0, 1, … rounds."""
    _, truth = _goal(matrix, whole)
    counted = truth >= 0
    found: list[RoundWorth] = []
    before: Floats | None = None
    for panel in panels:
        point = _point(matrix, costs, panel, truth, counted)
        right = (_given(matrix, panel) == truth).astype(np.float64)
        gain = None if before is None else clustered_mean(right - before, counted, matrix.clusters)
        found.append(
            RoundWorth(
                rounds=panel.rounds,
                value=point.value,
                gain=missing(FIRST_ROUND) if gain is None else gain.mean,
                p_value=None if gain is None else gain.p_value,
                decided=point.decided,
                cost=point.cost,
                calls=point.calls,
                tokens=point.tokens,
                by_assumption=point.by_assumption,
            )
        )
        before = right
    return tuple(found)


def _goal(matrix: VoteMatrix, whole: Codes) -> tuple[Goal, Codes]:
    if (matrix.labels >= 0).any():
        return "accuracy", matrix.labels
    return "agreement", whole


def _given(matrix: VoteMatrix, panel: SmallerPanel) -> Codes:
    """The decided verdicts; -2 where there is none, which is no label."""
    given = decided(panel.verdicts, matrix.scale)
    return np.where(given < 0, np.int8(-2), given)


def _point(matrix: VoteMatrix, costs: StepCosts, panel: SmallerPanel, truth: Codes, counted: Bools) -> FrontierPoint:
    given = _given(matrix, panel)
    counted_rounds = np.arange(costs.cost.shape[1]) <= panel.total_rounds[:, None]
    members = np.array([*(seat in panel.seats for seat in matrix.seats), True])

    def mean(steps: Floats) -> float | None:
        total = float(np.where(counted_rounds[:, :, None] & members, steps, 0.0).sum(axis=(1, 2)).mean())
        return None if np.isnan(total) else total

    return FrontierPoint(
        seats=panel.seats,
        rounds=panel.rounds,
        value=proportion(given == truth, counted, matrix.clusters),
        decided=float((given >= 0)[counted].mean()) if counted.any() else 0.0,
        cost=mean(costs.cost),
        calls=mean(costs.calls),
        tokens=mean(costs.tokens),
        by_assumption=int(np.count_nonzero(~panel.exact)),
        on_frontier=False,
    )


def _measure(points: Sequence[FrontierPoint]) -> Measure | None:
    costs = [one.cost for one in points]
    if None not in costs and any(costs):
        return "cost"
    return "calls" if all(one.calls is not None for one in points) else None


def _price(point: FrontierPoint, measure: Measure | None) -> float:
    if measure is None:
        return float(len(point.seats) * (point.rounds + 1))
    price = point.cost if measure == "cost" else point.calls
    return price or 0.0


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
        whole: [units], verdicts of the whole panel.
        found: the frontier of single panels: its goal, and what it takes for the cost.
    """
    truth = matrix.labels if found.goal == "accuracy" else whole
    counted = np.asarray(truth >= 0)
    if len(matrix.seats) < 3 or not counted.any():  # noqa: PLR2004  (two seats are the whole panel)
        return ()
    points = [_staged_point(matrix, costs, whole, truth, counted, first) for first in _choices(matrix, ranking)]
    return _marked(points, found)


def _choices(matrix: VoteMatrix, ranking: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """The places of the first stage's seats."""
    chosen = sorted(matrix.seats.index(seat) for seat in ranking[:RANKED])
    for size in FIRST_SEATS:
        if size < len(matrix.seats):
            yield from combinations(chosen, size)


def _staged_point(  # noqa: PLR0917  (what a choice is judged by)
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
