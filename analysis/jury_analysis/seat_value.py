"""What each seat is worth: its Shapley value on the votes of round 0, and what the panel loses without it."""

from dataclasses import dataclass
from math import factorial

import numpy as np

from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import SEED, clustered_mean, proportion
from jury_analysis.reasons import NO_UNIT_LABEL, ONE_SEAT
from jury_analysis.subset_counting import CELLS, UnitPatterns, count_subsets, subset_members, unit_patterns
from jury_analysis.vote_matrix import Bools, Floats, VoteMatrix

MOST_EXACT = 12
"""Seats up to which all subsets are counted (4,095); of more seats orders are drawn."""

ORDERS = 2000
"""Orders of the seats that are drawn for a larger panel."""


@dataclass(frozen=True)
class SeatWorth:
    """What one seat adds; `n` of its figures counts labelled units."""

    seat: str
    shapley: Estimate
    """The mean of what the seat adds to the accuracy of the seats before it, over all orders (Shapley 1953)."""
    sampling_error: float | None
    """Standard error of the value because orders were drawn; None where all subsets were counted."""
    leave_one_out: Estimate
    """Accuracy of the panel - accuracy without the seat."""
    accuracy_without: float | None
    decided_without: float | None
    """Share of units that the panel without the seat decides: an odd panel less one ties, and a tie is not right."""


@dataclass(frozen=True)
class SeatValues:
    """The worth of all seats of a panel, on the strict plurality of round 0."""

    labelled: int
    """Units with a label: the denominator of all shares."""
    accuracy: Estimate
    """Share of units whose strict plurality is the label; an undecided panel is not right. The sum of all values."""
    decided: Estimate
    """Share of units with a strict plurality that is no abstention."""
    orders: int | None
    """Orders that were drawn; None: every subset was counted."""
    seed: int | None
    """Of the drawn orders."""
    seats: tuple[SeatWorth, ...]
    """In the order of their names."""


def seat_values(matrix: VoteMatrix, *, orders: int = ORDERS, seed: int = SEED) -> SeatValues:
    """The worth of each seat.

    v(S) = share of labelled units whose strict plurality among the seats S is the label; v of no seat is 0. The
    Shapley value of a seat is the mean of v(S and the seat) - v(S) over all orders, S being the seats before it
    (Shapley, "A value for n-person games", 1953); for large panels over drawn orders (Castro et al., "Polynomial
    calculation of the Shapley value based on sampling", 2009). Values add up to v of all seats, and each is a mean
    over units, which gives its cluster-robust interval.

    Args:
        matrix: of round 0; other rounds were voted with sight of the others.
        orders: drawn for more than `MOST_EXACT` seats.
        seed: of the drawn orders.
    """
    labelled = matrix.labels >= 0
    exact = len(matrix.seats) <= MOST_EXACT
    if not labelled.any():
        nothing = tuple(
            SeatWorth(name, missing(NO_UNIT_LABEL), None, missing(NO_UNIT_LABEL), None, None) for name in matrix.seats
        )
        return SeatValues(0, missing(NO_UNIT_LABEL), missing(NO_UNIT_LABEL), None, None, nothing)
    found = unit_patterns(matrix)
    values, errors = _exact(matrix, found) if exact else _drawn(matrix, found, orders, seed)
    size = len(matrix.seats)
    members = np.vstack((np.ones((1, size), np.bool_), ~np.eye(size, dtype=np.bool_)))
    said = count_subsets(matrix, found, members)  # of all seats, then without each

    def of_units(pattern_values: Bools | Floats) -> Floats:
        return pattern_values[found.of_unit].astype(np.float64)

    seats = []
    for index, name in enumerate(matrix.seats):
        shapley = clustered_mean(of_units(values[index]), labelled, matrix.clusters).mean
        if size == 1:
            seats.append(SeatWorth(name, shapley, None, missing(ONE_SEAT), None, None))
            continue
        right, decided = of_units(said.right[index + 1]), of_units(said.decided[index + 1])
        lost = of_units(said.right[0]) - right
        seats.append(
            SeatWorth(
                seat=name,
                shapley=shapley,
                sampling_error=None if errors is None else float(errors[index]),
                leave_one_out=clustered_mean(lost, labelled, matrix.clusters).mean,
                accuracy_without=float(right[labelled].mean()),
                decided_without=float(decided[labelled].mean()),
            )
        )
    return SeatValues(
        labelled=int(np.count_nonzero(labelled)),
        accuracy=proportion(said.right[0][found.of_unit], labelled, matrix.clusters),
        decided=proportion(said.decided[0][found.of_unit], labelled, matrix.clusters),
        orders=None if exact else orders,
        seed=None if exact else seed,
        seats=tuple(seats),
    )


def _exact(matrix: VoteMatrix, found: UnitPatterns) -> tuple[Floats, None]:
    """[seats, patterns]: Shapley values of each pattern.

    A subset of s seats of n enters the value of a seat in it with (s-1)!(n-s)!/n!, and with -s!(n-s-1)!/n! otherwise.
    """
    size = len(matrix.seats)
    with_seat = np.array([0.0, *(factorial(s - 1) * factorial(size - s) / factorial(size) for s in range(1, size + 1))])
    without = np.array([*(factorial(s) * factorial(size - s - 1) / factorial(size) for s in range(size)), 0.0])
    members = subset_members(size)
    numbers = members.sum(axis=1)
    weights = np.where(members.T, with_seat[numbers], -without[numbers])
    values = np.zeros((size, len(found.labels)))
    batch = max(1, CELLS // (len(found.labels) * len(matrix.scale.categories)))
    for start in range(0, len(members), batch):
        part = slice(start, start + batch)
        values += weights[:, part] @ count_subsets(matrix, found, members[part]).right
    return values, None


def _drawn(matrix: VoteMatrix, found: UnitPatterns, orders: int, seed: int) -> tuple[Floats, Floats]:
    """[seats, patterns]: means over drawn orders; and [seats]: the standard errors of the values."""
    size = len(matrix.seats)
    weights = np.bincount(found.of_unit[matrix.labels >= 0], minlength=len(found.labels)).astype(np.float64)
    weights /= weights.sum()
    generator = np.random.default_rng(seed)
    values = np.zeros((size, len(found.labels)))
    sums, squares = np.zeros(size), np.zeros(size)
    for _ in range(orders):
        order = generator.permutation(size)
        members = np.zeros((size, size), dtype=np.bool_)
        members[:, order] = np.tri(size, dtype=np.bool_)
        right = count_subsets(matrix, found, members).right.astype(np.float64)
        added = np.diff(right, axis=0, prepend=0.0)
        values[order] += added
        worth = added @ weights
        sums[order] += worth
        squares[order] += worth * worth
    spread = np.maximum(squares - sums**2 / orders, 0.0) / max(1, orders - 1)
    return values / orders, np.sqrt(spread / orders)
