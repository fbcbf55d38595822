"""Whether the panel beats its best member, known in hindsight or chosen on other cases than those it is measured on.

The seat with the highest accuracy on some labels is flattered by them: of several equal ones it was the luckiest. So
the best seat is also chosen apart: clusters are dealt to parts, for each part the best seat is chosen on all other
parts, and its verdicts there are those of "the best single judge" (cross-fitting). A panel that beats the one in
hindsight wins; one that loses to the one that was chosen apart loses.
"""

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from jury_analysis.accuracy import decided
from jury_analysis.estimate import Estimate
from jury_analysis.intervals import SEED, bounded_change, proportion
from jury_analysis.score_interval import FEWEST
from jury_analysis.vote_matrix import Bools, Ints, VoteMatrix, panel_plurality

PARTS = 10
"""Parts of the clusters; each choice is made on the others."""


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
