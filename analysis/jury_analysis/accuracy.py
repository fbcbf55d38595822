"""Verdicts against labels: of each seat, of the panel's strict plurality, and of the jury.

A verdict is *decided* unless it is missing, the panel has no strict plurality, or the verdict counts as an abstention
(`Scale.abstaining`: the middle verdict, where labels know only the two ends). Rates have all labelled units in the
denominator, so a rater that abstains gains nothing by it; accuracy among decided units is given apart, beside the
coverage.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from jury_analysis import coefficients
from jury_analysis.estimate import DecidedCases, Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import NO_DECIDED, NO_PASS_OR_FAIL, NO_SUCH_LABEL, NO_UNIT_LABEL, NO_VERDICT, ONE_LABEL
from jury_analysis.scale import Scale
from jury_analysis.vote_matrix import Bools, Codes, Floats, VoteMatrix, panel_plurality
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
