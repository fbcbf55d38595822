"""Levels as numbers, where the labels of a panel's scale are whole numbers in a row: means, distances from labels."""

from dataclasses import dataclass

import numpy as np

from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import NO_UNIT_LABEL, NO_VERDICT
from jury_analysis.vote_matrix import Bools, Floats, VoteMatrix


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
