"""Wilson's score interval of a share; from how many clusters there are intervals. Without NumPy: see `intervals`."""

from math import sqrt
from statistics import NormalDist

from jury_analysis.estimate import Estimate, Interval, missing
from jury_analysis.reasons import CLUSTERS_ARE_FEW, DEPENDENT, FEWER_CLUSTERS, NO_UNIT
from jury_analysis.wording import Reason

FEWEST = 10
FEW = 30
TAIL = 0.025  # below and above: the intervals are 95 %
_NORMAL_QUANTILE = NormalDist().inv_cdf(1 - TAIL)


def wilson(successes: float, n: int, clusters: int | None = None) -> Estimate:
    """A share of n independent units with Wilson's score interval (Wilson 1927).

    Args:
        clusters: how many the units are of, where they are not independent: the interval is that of independent units
            all the same, and a note says so. The rules for few clusters are about these. None: each unit is one.
    """
    if not n:
        return missing(NO_UNIT)
    share, number = successes / n, n if clusters is None else clusters
    notes = cluster_notes(number)
    if number < FEWEST:
        return Estimate(share, None, n, notes=notes)
    if number < n:
        notes = (*notes, DEPENDENT)
    square = _NORMAL_QUANTILE**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL_QUANTILE * sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    interval = Interval(max(0.0, centre - half), min(1.0, centre + half), "wilson", number)
    return Estimate(share, interval, n, notes=notes)


def cluster_notes(clusters: int) -> tuple[Reason, ...]:
    """That there are too few clusters for an interval, or few for a good one."""
    if clusters < FEWEST:
        return (FEWER_CLUSTERS(n=clusters, least=FEWEST),)
    if clusters < FEW:
        return (CLUSTERS_ARE_FEW(n=clusters, least=FEW),)
    return ()
