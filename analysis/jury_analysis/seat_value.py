"""What each seat is worth: Shapley values on the votes of round 0, what the panel loses without it, what it costs.

A vote of round 0 was cast without sight of the others, so the verdicts of a subset are those of a panel of these seats
alone.
"""

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from math import factorial
from typing import NamedTuple

import numpy as np

from jury_analysis.accuracy import decided
from jury_analysis.estimate import FEWEST, Estimate, missing
from jury_analysis.intervals import SEED, bounded_change, clustered_mean, proportion
from jury_analysis.reasons import NO_UNIT_LABEL, ONE_SEAT
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix, panel_plurality, patterns

CELLS = 4_000_000
"""Of the arrays [subsets, patterns, categories] in memory at once: 16 MB."""


class UnitPatterns(NamedTuple):
    """Units with equal votes and labels, counted once."""

    of_unit: Ints
    """[units]: the pattern of each unit."""
    votes: Codes
    """[patterns, seats]."""
    labels: Codes
    """[patterns]: -1 without one."""


class CountedSubsets(NamedTuple):
    """What subsets of seats say of each pattern: [subsets, patterns]."""

    right: Bools
    """The strict plurality is the label."""
    decided: Bools
    """There is a strict plurality, and it is no abstention."""


def unit_patterns(matrix: VoteMatrix) -> UnitPatterns:
    """The patterns of a round."""
    codes, rows = patterns(matrix.votes, matrix.labels)
    return UnitPatterns(codes, rows[:, :-1].astype(np.int8), rows[:, -1].astype(np.int8))


def subset_members(seats: int) -> Bools:
    """[subsets, seats]: every subset with at least one seat; smaller ones first, then by the order of the seats."""
    numbers = np.arange(1, 1 << seats)
    members = (numbers[:, None] >> np.arange(seats) & 1).astype(np.bool_)
    order = np.lexsort((*(~members.T[::-1]), members.sum(axis=1)))
    return members[order]


def pluralities(votes: Codes, members: Bools, categories: int) -> Codes:
    """[subsets, rows]: the strict plurality of votes [rows, seats] among members [subsets, seats]; -1: none."""
    chosen = members.astype(np.float32)
    tally = np.stack([chosen @ np.equal(votes.T, code).astype(np.float32) for code in range(categories)])
    top = tally.max(axis=0)
    single = np.count_nonzero(tally == top, axis=0) == 1
    codes: Codes = np.where(single & (top > 0), tally.argmax(axis=0), -1).astype(np.int8)
    return codes


def count_subsets(matrix: VoteMatrix, found: UnitPatterns, members: Bools) -> CountedSubsets:
    """The verdicts of subsets against the labels."""
    given = decided(pluralities(found.votes, members, len(matrix.scale.categories)), matrix.scale)
    return CountedSubsets(right=(given >= 0) & (given == found.labels), decided=given >= 0)


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


PARTS = 10
"""Parts of the clusters; each choice is made on the others."""


# The seat with the highest accuracy on some labels is flattered by them: of several equal ones it was the luckiest. So
# the best seat is also chosen apart: clusters are dealt to parts, for each part the best seat is chosen on all other
# parts, and its verdicts there are those of "the best single judge" (cross-fitting). A panel that beats the one in
# hindsight wins; one that loses to the one that was chosen apart loses.
@dataclass(frozen=True)
class ChosenSeat:
    """A seat that was the best one on the other parts."""

    seat: str
    parts: int
    """Of how many parts."""


@dataclass(frozen=True)
class SingleSeat:
    """One seat a labelled unit, beside the panel over the same units."""

    accuracy: Estimate
    """Right verdicts of the seat / labelled units."""
    gain: Estimate
    """Accuracy of the panel's strict plurality - this accuracy. Below 0 the panel loses."""
    p_value: float | None
    """Two-sided, of no gain."""


@dataclass(frozen=True)
class BestSeat:
    """The best single seat beside the panel; verdicts are of the first evaluation, intervals over clusters."""

    apart: SingleSeat
    """Chosen on the other parts. The interval takes the choices for fixed."""
    chosen: tuple[ChosenSeat, ...]
    """The one that was chosen most often first."""
    parts: int
    seed: int
    """Of the parts."""
    hindsight: SingleSeat
    """The most accurate one on these labels, which flatter it."""
    hindsight_seat: str


def best_seat(matrix: VoteMatrix, seed: int = SEED) -> BestSeat | None:
    """The best seat, and the panel beside it. Of equal seats the first by name is taken.

    Args:
        matrix: of round 0.
        seed: of the parts: clusters in the order of SHA-256(seed, name) are dealt to them in turn.

    Returns:
        None for fewer than two seats, and for fewer than `score_interval.FEWEST` clusters with a label.
    """
    labelled = matrix.labels >= 0
    if len(matrix.seats) < 2 or not labelled.any():  # noqa: PLR2004  (one seat is the panel)
        return None
    part, parts = _parts(matrix, seed)
    if not parts:
        return None
    right = (decided(matrix.votes, matrix.scale) == matrix.labels[:, None]) & labelled[:, None]
    of_part = np.stack([right[part == number].sum(axis=0) for number in range(parts)])
    of_all = of_part.sum(axis=0)
    chosen = (of_all - of_part).argmax(axis=1)
    best = int(of_all.argmax())
    times = Counter(matrix.seats[place] for place in chosen)
    return BestSeat(
        apart=_beside_panel(matrix, right[np.arange(matrix.units), chosen[part]]),
        chosen=tuple(ChosenSeat(seat, count) for seat, count in sorted(times.items(), key=lambda one: (-one[1], one))),
        parts=parts,
        seed=seed,
        hindsight=_beside_panel(matrix, right[:, best]),
        hindsight_seat=matrix.seats[best],
    )


def _beside_panel(matrix: VoteMatrix, right: Bools) -> SingleSeat:
    labelled = matrix.labels >= 0
    plurality, _ = panel_plurality(matrix)
    panel = decided(plurality, matrix.scale) == matrix.labels
    change = bounded_change((panel.astype(np.int64) - right)[labelled], matrix.clusters[labelled])
    return SingleSeat(proportion(right, labelled, matrix.clusters), change.mean, change.p_value)


def _parts(matrix: VoteMatrix, seed: int) -> tuple[Ints, int]:
    """[units]: the part of each, and how many there are; 0 with too few clusters."""
    counted = np.flatnonzero(np.bincount(matrix.clusters[matrix.labels >= 0], minlength=len(matrix.cluster_names)))
    if len(counted) < FEWEST:
        return np.zeros(matrix.units, dtype=np.int64), 0
    order = sorted(counted, key=lambda code: sha256(f"{seed}\0{matrix.cluster_names[code]}".encode()).digest())
    of_cluster = np.zeros(len(matrix.cluster_names), dtype=np.int64)
    of_cluster[order] = np.arange(len(order)) % PARTS
    return of_cluster[matrix.clusters], PARTS
