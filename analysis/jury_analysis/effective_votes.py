"""How many independent votes the seats are worth.

Seats that err on the same cases add little to each other. The correlation of their errors gives the number of
independent votes whose mean has the same variance: k / (1 + (k - 1) r), where r is the mean correlation over the pairs
of k seats (arXiv 2605.29800; the design effect of Kish 1965).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from jury_analysis.accuracy import decided, errors
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import RESAMPLES, SEED, bootstrap, proportion
from jury_analysis.reasons import NO_DECIDED, NO_DECIDED_BY_ALL, NO_ERRORS_OF_PAIR, NO_ERRORS_OF_PAIRS, ONE_SEAT_NO_PAIR
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix, patterns, strict_plurality


@dataclass(frozen=True)
class ErrorCorrelation:
    """The correlation of the errors of two seats."""

    first: str
    second: str
    phi: Estimate
    """The phi coefficient of the two error indicators, over the labelled units that both seats decided."""


@dataclass(frozen=True)
class EffectiveVotes:
    """What the panel's votes are worth together, over labelled units."""

    seats: int
    effective: Estimate
    """Independent votes with the same error variance: seats / (1 + (seats - 1) * mean phi)."""
    mean_phi: Estimate
    """Mean over the pairs whose phi is defined; n is the number of labelled units that two seats or more decided."""
    pairs: tuple[ErrorCorrelation, ...]
    undefined_pairs: int
    """Pairs without a phi."""
    complete: int
    """Labelled units that all seats decided. The figures below are about these."""
    accuracy_if_independent: Estimate
    """Chance that more than half of the seats are right, if they had their accuracies and independent errors."""
    majority_accuracy: Estimate
    """Share of units in which the strict plurality is right; an undecided panel is wrong."""
    best_seat_accuracy: Estimate
    best_seats: tuple[str, ...]
    """The seats with that accuracy. Chosen on these labels, it is biased upwards."""


def effective_votes(matrix: VoteMatrix, *, resamples: int = RESAMPLES, seed: int = SEED) -> EffectiveVotes:
    """Error correlation, effective votes, and the panel beside its best seat."""
    wrong = errors(matrix.votes, matrix.labels, matrix.scale)
    known = wrong >= 0
    size = len(matrix.seats)
    complete = known.all(axis=1) & (matrix.labels >= 0)
    pairs = tuple(combinations(range(size), 2))
    used = known.any(axis=1)  # a cluster without any of these is none of the sample
    together = np.count_nonzero(known[used], axis=1) > 1
    codes, rows = patterns(wrong[used])
    sums = _PatternSums(rows)

    def figures(counts: Floats) -> Floats:
        phi = sums.phi(counts)[:, [one for one, _ in pairs], [two for _, two in pairs]]
        mean = _mean_of_defined(phi)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = 1.0 + (size - 1) * mean
            effective = np.where(variance > 0, size / variance, np.nan)
        return np.column_stack((sums.accuracy_if_independent(counts), mean, effective, phi))

    if not used.any():
        estimates = [missing(NO_DECIDED)] * (3 + len(pairs))
    else:
        estimates = list(
            bootstrap(
                figures,
                codes,
                matrix.clusters[used],
                bases=[
                    complete[used],
                    together,
                    together,
                    *(known[used, one] & known[used, two] for one, two in pairs),
                ],
                undefined=[
                    NO_DECIDED_BY_ALL,
                    *[NO_ERRORS_OF_PAIRS if pairs else ONE_SEAT_NO_PAIR] * 2,
                    *[NO_ERRORS_OF_PAIR] * len(pairs),
                ],
                resamples=resamples,
                seed=seed,
            )
        )
    independent, mean, effective, *phis = estimates
    correlations = tuple(
        ErrorCorrelation(matrix.seats[one], matrix.seats[two], phi) for (one, two), phi in zip(pairs, phis, strict=True)
    )
    majority, best, best_seats = _on_complete_units(matrix, wrong, complete)
    return EffectiveVotes(
        seats=size,
        effective=effective,
        mean_phi=mean,
        pairs=correlations,
        undefined_pairs=sum(one.phi.value is None for one in correlations),
        complete=int(complete.sum()),
        accuracy_if_independent=independent,
        majority_accuracy=majority,
        best_seat_accuracy=best,
        best_seats=best_seats,
    )


class _PatternSums:
    """Sums over units, by pattern of errors, as matrix products with counts [resamples, patterns]."""

    def __init__(self, rows: Ints) -> None:
        self.seats = rows.shape[1]
        present, wrong = (rows >= 0).astype(float), (rows == 1).astype(float)
        self.both_present = self._products(present, present)
        self.wrong_and_present = self._products(wrong, present)
        self.both_wrong = self._products(wrong, wrong)
        complete = (rows >= 0).all(axis=1)
        self.complete = complete.astype(float)
        self.right_if_complete = (rows == 0) * self.complete[:, None]

    @staticmethod
    def _products(one: Floats, two: Floats) -> Floats:
        products: Floats = (one[:, :, None] * two[:, None, :]).reshape(len(one), one.shape[1] * two.shape[1])
        return products

    def phi(self, counts: Floats) -> Floats:
        """[resamples, seats, seats]: the correlation of two error indicators where both are known; nan if undefined."""
        n, wrong, both = (
            (counts @ products).reshape(-1, self.seats, self.seats)
            for products in (self.both_present, self.wrong_and_present, self.both_wrong)
        )
        other = wrong.transpose(0, 2, 1)
        variances = wrong * (n - wrong) * other * (n - other)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variances > 0, (n * both - wrong * other) / np.sqrt(variances), np.nan)

    def accuracy_if_independent(self, counts: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return probability_of_majority((counts @ self.right_if_complete) / (counts @ self.complete)[:, None])


def probability_of_majority(accuracies: Floats) -> Floats:
    """Chance that more than half of independent voters are right: the upper part of a Poisson-binomial distribution.

    `accuracies` is [panels, voters]; the result is [panels].
    """
    panels, voters = accuracies.shape
    right = np.zeros((panels, voters + 1))  # chance of each number of right votes
    right[:, 0] = 1.0
    for voter in range(voters):
        accuracy = accuracies[:, voter, None]
        right[:, 1:] = right[:, 1:] * (1.0 - accuracy) + right[:, :-1] * accuracy
        right[:, :1] *= 1.0 - accuracy
    chance: Floats = right[:, voters // 2 + 1 :].sum(axis=1)
    return chance


def _mean_of_defined(values: Floats) -> Floats:
    """The mean of each row without its nan; nan where nothing is left."""
    defined = ~np.isnan(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Floats = np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
    return means


def _on_complete_units(matrix: VoteMatrix, wrong: Codes, complete: Bools) -> tuple[Estimate, Estimate, tuple[str, ...]]:
    """Accuracy of the plurality and of the best seat, and the names of the best seats."""
    if not complete.any():
        return missing(NO_DECIDED_BY_ALL), missing(NO_DECIDED_BY_ALL), ()
    votes = decided(matrix.votes, matrix.scale)
    plurality, _ = strict_plurality(tallies(votes, len(matrix.scale.categories)))
    right = complete & (plurality == matrix.labels)
    by_seat = np.count_nonzero((wrong == 0) & complete[:, None], axis=0)
    best = int(by_seat.argmax())
    names = tuple(name for name, count in zip(matrix.seats, by_seat, strict=True) if count == by_seat[best])
    return (
        proportion(right, complete, matrix.clusters),
        proportion((wrong[:, best] == 0) & complete, complete, matrix.clusters),
        names,
    )
