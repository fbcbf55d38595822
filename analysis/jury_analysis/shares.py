"""Each verdict's share over all debates, corrected by the labelled ones."""

from dataclasses import dataclass

import numpy as np

from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.intervals import clustered_mean, proportion, t_quantile
from jury_analysis.reasons import ALL_LABELLED, NO_DEBATE_LABEL, NOT_RANDOM
from jury_analysis.vote_matrix import Bools, VoteMatrix, panel_plurality


@dataclass(frozen=True)
class VerdictShare:
    """How often one verdict occurs; `n` counts debates."""

    verdict: str
    count: int
    raw: Estimate
    """The jury's verdicts, over all debates; debates without a verdict stay in the denominator."""
    labelled: Estimate
    """The labels, over the labelled debates."""
    corrected: Estimate
    """Prediction-powered: the jury's share over the unlabelled, plus the mean of label minus jury over the labelled."""


def shares(matrix: VoteMatrix, *, random_labels: bool = False) -> tuple[VerdictShare, ...]:
    """Shares of all declared verdicts: the jury's final verdict where known, otherwise the strict plurality of seats.

    Corrected share (Angelopoulos et al., "Prediction-powered inference", Science 382:669, 2023): mean of f over the
    unlabelled + mean of (y - f) over the labelled, f = 1[jury's verdict], y = 1[label]. Its variance is the sum of the
    two cluster-robust variances; t has the smaller number of clusters minus 1 degrees of freedom.

    Args:
        matrix: of round 0, of one panel.
        random_labels: whether the labelled debates are a random sample of all: without it there is no corrected share.
    """
    plurality, _ = panel_plurality(matrix)
    verdicts = np.where(matrix.finals >= 0, matrix.finals, plurality)
    labelled = matrix.labels >= 0
    return tuple(
        _share(matrix, name, verdicts == code, matrix.labels == code, labelled, random_labels=random_labels)
        for code, name in enumerate(matrix.scale.categories)
    )


def _share(
    matrix: VoteMatrix, name: str, given: Bools, true: Bools, labelled: Bools, *, random_labels: bool
) -> VerdictShare:
    everything = np.ones(matrix.units, dtype=np.bool_)
    return VerdictShare(
        verdict=name,
        count=int(np.count_nonzero(given)),
        raw=proportion(given, everything, matrix.clusters),
        labelled=proportion(true, labelled, matrix.clusters) if labelled.any() else missing(NO_DEBATE_LABEL),
        corrected=_corrected(matrix, given, true, labelled) if random_labels else missing(NOT_RANDOM, matrix.units),
    )


def _corrected(matrix: VoteMatrix, given: Bools, true: Bools, labelled: Bools) -> Estimate:
    if not labelled.any():
        return missing(NO_DEBATE_LABEL, matrix.units)
    if labelled.all():
        return missing(ALL_LABELLED, matrix.units)
    predicted = clustered_mean(given, ~labelled, matrix.clusters)
    correction = clustered_mean(true.astype(np.float64) - given, labelled, matrix.clusters)
    value = (predicted.mean.value or 0.0) + (correction.mean.value or 0.0)
    parts = (predicted.mean, correction.mean)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    if predicted.standard_error is None or correction.standard_error is None:
        return Estimate(value, None, matrix.units, notes=notes)
    clusters = min(part.interval.clusters for part in parts if part.interval is not None)
    half = t_quantile(clusters - 1) * float(np.hypot(predicted.standard_error, correction.standard_error))
    interval = Interval(value - half, value + half, "prediction-powered t", clusters)
    return Estimate(value, interval, matrix.units, notes=notes)
