"""Verdicts against labels: of each seat, of the panel's strict plurality, and of the jury.

A verdict is *decided* unless it is missing, the panel has no strict plurality, or the verdict counts as an abstention
(`Scale.abstaining`: the middle verdict, where labels know only the two ends). Rates have all labelled units in the
denominator, so a rater that abstains gains nothing by it; accuracy among decided units is given apart, beside the
coverage.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from jury_analysis import coefficients
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import DecidedCases, Estimate, missing
from jury_analysis.intervals import RESAMPLES, SEED, bootstrap, clustered_mean, proportion
from jury_analysis.reasons import (
    NO_DECIDED,
    NO_DECIDED_BY_ALL,
    NO_ERRORS_OF_PAIR,
    NO_ERRORS_OF_PAIRS,
    NO_PASS_OR_FAIL,
    NO_SUCH_LABEL,
    NO_UNIT_LABEL,
    NO_VERDICT,
    ONE_LABEL,
    ONE_SEAT_NO_PAIR,
)
from jury_analysis.scale import Scale
from jury_analysis.vote_matrix import (
    Bools,
    Codes,
    Floats,
    Ints,
    VoteMatrix,
    panel_plurality,
    patterns,
    strict_plurality,
)
from jury_analysis.wording import Reason


def decided(verdicts: Codes, scale: Scale) -> Codes:
    """The verdicts, with -1 in place of the category that counts as an abstention against labels."""
    abstaining = scale.abstaining_code
    return verdicts if abstaining is None else np.where(verdicts == abstaining, np.int8(-1), verdicts)


def errors(verdicts: Codes, labels: Codes, scale: Scale) -> Codes:
    """Error indicators: 1 wrong, 0 right, -1 where the label or a decided verdict is missing.

    `verdicts` is [units] or [units, seats], `labels` is [units]; the result has the shape of `verdicts`.
    """
    given = decided(verdicts, scale)
    truth = labels if given.ndim == 1 else labels[:, None]
    return np.where((given < 0) | (truth < 0), np.int8(-1), (given != truth).astype(np.int8))


def decided_cases(verdicts: Codes, labels: Codes, clusters: npt.NDArray[np.int32], scale: Scale) -> DecidedCases:
    """What was decided of units, each with the codes of its verdict and its label (-1: none)."""
    labelled = labels >= 0
    alone = labelled & (verdicts >= 0) & ~scale.asks(verdicts)
    right = alone & (verdicts == labels)
    passes = labelled & scale.passes(verdicts) & ~scale.passes(labels)
    fails = labelled & scale.fails(verdicts) & ~scale.fails(labels)
    return DecidedCases(
        labelled=int(np.count_nonzero(labelled)),
        right=proportion(right, alone, clusters) if alone.any() else missing(NO_DECIDED),
        false_passes=int(np.count_nonzero(passes)) if scale.ordered else None,
        false_fails=int(np.count_nonzero(fails)) if scale.ordered else None,
    )


@dataclass(frozen=True)
class AgainstLabels:
    """One rater's verdicts beside the labels."""

    rater: str
    """`seat`, `panel` (the strict plurality of the seats) or `jury` (the final verdict of the debate)."""
    seat: str | None
    """The seat's name; None for panel and jury."""
    labelled: int
    """Units with a label: the denominator of `accuracy` and `coverage`."""
    no_verdict: int
    """Labelled units without a verdict, or with an undecided panel."""
    abstentions: int
    """Labelled units whose verdict counts as an abstention."""
    confusion: tuple[tuple[int, ...], ...]
    """A row for each category of the labels, a column for each category of the verdicts, and a last one for none."""
    accuracy: Estimate
    """Right verdicts / labelled units."""
    coverage: Estimate
    """Decided verdicts / labelled units."""
    accuracy_of_decided: Estimate
    """Right verdicts / decided verdicts."""
    decided: DecidedCases
    """The verdicts that leave nothing to people (`Scale.for_people`), and how often they are right."""
    false_passes: int | None
    """Units with a failing label and a passing verdict; None without an order of the verdicts."""
    false_pass_rate: Estimate
    """false_passes / units with a failing label."""
    false_fails: int | None
    """Units with a passing label and a failing verdict; None without an order of the verdicts."""
    false_fail_rate: Estimate
    """false_fails / units with a passing label."""
    kappa: Estimate
    """Cohen's kappa of verdicts and labels, unweighted, over the decided units (Cohen 1960)."""


@dataclass(frozen=True)
class AccuracyReport:
    """All raters beside the labels."""

    categories: tuple[str, ...]
    abstaining: str | None
    """The category that counts as an abstention, because no label has it."""
    passing: str | None
    """What false passes and false fails take for a pass: the first of the order, of a panel's scale all labels that
    pass, parted by commas; None without an order."""
    failing: str | None
    """What they take for a fail: the last of the order, or all labels that fail."""
    labelled: int
    unlabelled: int
    seats: tuple[AgainstLabels, ...]
    panel: AgainstLabels
    jury: AgainstLabels | None
    """None where no final verdict is known."""
    best_seats: tuple[str, ...]
    """The seats with the highest accuracy. Chosen on these labels, it is biased upwards."""


def accuracy(matrix: VoteMatrix) -> AccuracyReport:
    """Compare the votes of one round, their strict plurality and the final verdicts with the labels.

    Intervals: of shares, `intervals.proportion`; of kappa, the cluster-robust t.
    """
    plurality, _ = panel_plurality(matrix)

    def compared(rater: str, seat: str | None, verdicts: Codes) -> AgainstLabels:
        return _against_labels(matrix, rater, seat, verdicts)

    seats = tuple(compared("seat", name, matrix.votes[:, index]) for index, name in enumerate(matrix.seats))
    jury = compared("jury", None, matrix.finals) if np.any(matrix.finals >= 0) else None
    labelled = int(np.count_nonzero(matrix.labels >= 0))
    return AccuracyReport(
        categories=matrix.scale.categories,
        abstaining=matrix.scale.abstaining,
        passing=", ".join(matrix.scale.passing) if matrix.scale.ordered else None,
        failing=", ".join(matrix.scale.failing) if matrix.scale.ordered else None,
        labelled=labelled,
        unlabelled=matrix.units - labelled,
        seats=seats,
        panel=compared("panel", None, plurality),
        jury=jury,
        best_seats=_best(seats),
    )


def _against_labels(matrix: VoteMatrix, rater: str, seat: str | None, verdicts: Codes) -> AgainstLabels:
    labels, scale, clusters = matrix.labels, matrix.scale, matrix.clusters
    labelled, given = labels >= 0, decided(verdicts, scale)
    known = labelled & (given >= 0)
    right = known & (given == labels)
    passed = _extreme_error(scale.fails(labels), scale.passes(verdicts), clusters, scale, scale.failing)
    failed = _extreme_error(scale.passes(labels), scale.fails(verdicts), clusters, scale, scale.passing)
    return AgainstLabels(
        rater=rater,
        seat=seat,
        labelled=int(labelled.sum()),
        no_verdict=int(np.count_nonzero(labelled & (verdicts < 0))),
        abstentions=int(np.count_nonzero(labelled & (verdicts >= 0) & (given < 0))),
        confusion=_confusion(labels, verdicts, len(scale.categories)),
        accuracy=_share(right, labelled, clusters, NO_UNIT_LABEL),
        coverage=_share(known, labelled, clusters, NO_UNIT_LABEL),
        accuracy_of_decided=_share(right, known, clusters, NO_DECIDED),
        decided=decided_cases(verdicts, labels, clusters, scale),
        false_passes=passed[0],
        false_pass_rate=passed[1],
        false_fails=failed[0],
        false_fail_rate=failed[1],
        kappa=_kappa(labels[known], given[known], clusters[known], len(scale.categories)),
    )


def _confusion(labels: Codes, verdicts: Codes, categories: int) -> tuple[tuple[int, ...], ...]:
    """Units by label and verdict; the last column counts missing verdicts."""
    labelled = labels >= 0
    rows = labels[labelled].astype(np.int64)
    columns = np.where(verdicts < 0, categories, verdicts)[labelled].astype(np.int64)
    width = categories + 1
    counts = np.bincount(rows * width + columns, minlength=categories * width).reshape(categories, width)
    return tuple(tuple(int(count) for count in row) for row in counts)


def _share(
    successes: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_], clusters: npt.NDArray[np.int32], otherwise: Reason
) -> Estimate:
    return proportion(successes, counted, clusters) if counted.any() else missing(otherwise)


def _extreme_error(
    counted: npt.NDArray[np.bool_],
    given: npt.NDArray[np.bool_],
    clusters: npt.NDArray[np.int32],
    scale: Scale,
    names: tuple[str, ...],
) -> tuple[int | None, Estimate]:
    """How often a verdict of one end of the order is given to units whose label is at the other; `names` are theirs."""
    if not scale.ordered:
        return None, missing(NO_PASS_OR_FAIL)
    wrong = counted & given
    return int(wrong.sum()), _share(wrong, counted, clusters, NO_SUCH_LABEL(name=", ".join(names)))


def _kappa(labels: Codes, verdicts: Codes, clusters: npt.NDArray[np.int32], size: int) -> Estimate:
    """Cohen's kappa with the cluster-robust t interval of its linearisation.

    kappa = (po - pe) / (1 - pe) changes with a unit of label i and verdict j by (1[i=j] - po) / (1 - pe) -
    (1 - po) / (1 - pe)^2 * (share of verdict i + share of label j - 2 pe) (Fleiss, Cohen and Everitt 1969). The mean of
    kappa plus these changes is kappa.
    """
    n = len(labels)
    if not n:
        return missing(NO_DECIDED)
    table = np.bincount(labels.astype(np.int64) * size + verdicts, minlength=size * size).reshape(size, size)
    kappa = float(coefficients.kappa(table[None].astype(np.float64), coefficients.identity_weights(size))[0])
    if np.isnan(kappa):
        return missing(ONE_LABEL, n)
    of_labels, of_verdicts = table.sum(axis=1) / n, table.sum(axis=0) / n
    chance = float(of_labels @ of_verdicts)
    changes = ((labels == verdicts) - np.trace(table) / n) / (1 - chance) - (1 - kappa) / (1 - chance) * (
        of_verdicts[labels] + of_labels[verdicts] - 2 * chance
    )
    estimate = clustered_mean(kappa + changes, np.ones(n), clusters).mean
    interval = estimate.interval
    cut = None if interval is None else replace(interval, low=max(-1.0, interval.low), high=min(1.0, interval.high))
    return replace(estimate, value=kappa, interval=cut)


def _best(seats: tuple[AgainstLabels, ...]) -> tuple[str, ...]:
    known = [(one.accuracy.value, one.seat) for one in seats if one.accuracy.value is not None]
    top = max((value for value, _ in known), default=None)
    return tuple(name for value, name in known if value == top and name is not None)


@dataclass(frozen=True)
class LevelsGiven:
    """The levels of one rater."""

    rater: str
    """`seat`, `panel` (the mean of the votes), `jury` (the decided label) or `labels` (people)."""
    seat: str | None
    """The seat's name; None for the others."""
    mean: Estimate
    """Of the levels given; intervals are the clustered t."""
    difference: Estimate
    """Mean of the level less that of the label: above zero the rater is milder than people."""
    distance: Estimate
    """Mean absolute difference of the level and that of the label."""
    within_one: Estimate
    """Share of the labelled units with a level at most one away from the label."""


@dataclass(frozen=True)
class LevelReport:
    """The levels of all raters."""

    lowest: int
    highest: int
    seats: tuple[LevelsGiven, ...]
    panel: LevelsGiven
    jury: LevelsGiven | None
    """None where no label was decided."""
    labels: LevelsGiven | None
    """None without labels."""


def level_report(matrix: VoteMatrix) -> LevelReport | None:
    """The levels of the first evaluation; None where the categories are not the levels of a panel's scale."""
    scale = matrix.scale.labels_of
    if scale is None or not scale.has_levels:
        return None
    numbers = np.array([*(float(name) for name in matrix.scale.categories), np.nan])  # the last is of the code -1
    votes, labels = numbers[matrix.votes], numbers[matrix.labels]
    given = np.count_nonzero(~np.isnan(votes), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        panel = np.where(given > 0, np.nansum(votes, axis=1) / given, np.nan)
    jury = numbers[matrix.finals]
    return LevelReport(
        lowest=int(np.nanmin(numbers)),
        highest=int(np.nanmax(numbers)),
        seats=tuple(_given(matrix, "seat", seat, votes[:, place], labels) for place, seat in enumerate(matrix.seats)),
        panel=_given(matrix, "panel", None, panel, labels),
        jury=None if np.isnan(jury).all() else _given(matrix, "jury", None, jury, labels),
        labels=None if np.isnan(labels).all() else _given(matrix, "labels", None, labels, labels),
    )


def _given(matrix: VoteMatrix, rater: str, seat: str | None, levels: Floats, labels: Floats) -> LevelsGiven:
    known = ~np.isnan(levels)
    both = known & ~np.isnan(labels)
    apart = np.where(both, levels - labels, 0.0)
    return LevelsGiven(
        rater=rater,
        seat=seat,
        mean=_mean(matrix, levels, known) if known.any() else missing(NO_VERDICT),
        difference=_mean(matrix, apart, both) if both.any() else missing(NO_UNIT_LABEL),
        distance=_mean(matrix, np.abs(apart), both) if both.any() else missing(NO_UNIT_LABEL),
        within_one=proportion(np.abs(apart) <= 1, both, matrix.clusters) if both.any() else missing(NO_UNIT_LABEL),
    )


def _mean(matrix: VoteMatrix, values: Floats, counted: Bools) -> Estimate:
    return clustered_mean(np.where(counted, values, 0.0), counted.astype(np.float64), matrix.clusters).mean


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
    """How many independent votes the seats are worth, and the panel beside its best seat.

    Seats that err on the same cases add little to each other. The correlation of their errors gives the number of
    independent votes whose mean has the same variance: k / (1 + (k - 1) r), where r is the mean correlation over the
    pairs of k seats (arXiv 2605.29800; the design effect of Kish 1965).
    """
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
