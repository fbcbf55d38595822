"""Estimates that are no means, with cluster-robust intervals by their influence on each unit."""

from dataclasses import replace

import numpy as np

from jury_analysis.estimate import missing
from jury_analysis.intervals import AnyInts, ClusteredMean, clustered_mean
from jury_analysis.reasons import CONSTANT_PREDICTOR, EMPTY_GROUP
from jury_analysis.vote_matrix import Bools, Floats


def difference_of_means(values: Floats, group: Bools, clusters: AnyInts) -> ClusteredMean:
    """The mean of `values` [units] inside the group - the mean outside it.

    A unit changes the difference by ±(value - mean of its group) / size of its group; the sums of these over clusters
    give the CR1 standard error, as in a regression on the group (Liang and Zeger 1986).
    """
    inside, outside = int(np.count_nonzero(group)), int(np.count_nonzero(~group))
    if not inside or not outside:
        return ClusteredMean(missing(EMPTY_GROUP, inside + outside), None, None)
    means = float(values[group].mean()), float(values[~group].mean())
    influence = np.where(group, (values - means[0]) / inside, (means[1] - values) / outside)
    return _linearised(means[0] - means[1], influence, clusters)


def slope_within(values: Floats, predictor: Floats, strata: AnyInts, clusters: AnyInts) -> ClusteredMean:
    """The least-squares slope of `values` on `predictor` [units] within strata, each with an intercept of its own.

    The CR1 standard error is over clusters (Liang and Zeger 1986).
    """
    x, y = _centred(predictor, strata), _centred(values, strata)
    squares = float(x @ x)
    if squares <= 0:
        return ClusteredMean(missing(CONSTANT_PREDICTOR, len(values)), None, None)
    slope = float(x @ y) / squares
    return _linearised(slope, x * (y - slope * x) / squares, clusters)


def _centred(values: Floats, strata: AnyInts) -> Floats:
    _, codes = np.unique(strata, return_inverse=True)
    means = np.bincount(codes, weights=values) / np.bincount(codes)
    centred: Floats = values - means[codes]
    return centred


def _linearised(value: float, influence: Floats, clusters: AnyInts) -> ClusteredMean:
    """The mean of value + n · influence is the value, as influences add up to zero, and has its standard error."""
    n = len(influence)
    found = clustered_mean(value + n * influence, np.ones(n), clusters)
    return replace(found, mean=replace(found.mean, value=value))
