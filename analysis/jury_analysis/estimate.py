"""A reported figure, with its interval or the reason why there is none."""

from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import NormalDist

from jury_analysis.reasons import CLUSTERS_ARE_FEW, DEPENDENT, FEWER_CLUSTERS, NO_UNIT
from jury_analysis.wording import Reason


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float
    method: str
    """`cluster bootstrap` (percentiles), `clustered t`, `prediction-powered t`, `wilson`, `clustered t and wilson`,
    `clopper-pearson` (exact)."""
    clusters: int
    """How many clusters it is based on."""
    resamples: int | None = None
    """Of a bootstrap; otherwise None."""
    seed: int | None = None
    """Of a bootstrap; otherwise None."""


@dataclass(frozen=True)
class Estimate:
    """A figure of a report.

    `value` is None where it cannot be had, and `reason` says why. Where the value is known and the interval is
    None, a note says why.
    """

    value: float | None
    interval: Interval | None = None
    n: int = 0
    """How many units the value is based on: debates, votes or pairs, as the report's docstring says."""
    reason: Reason | None = None
    notes: tuple[Reason, ...] = field(default=())

    def __post_init__(self) -> None:
        """A missing value has a reason, and a known one has none."""
        if (self.value is None) != (self.reason is not None):
            raise ValueError("an estimate has either a value or the reason why there is none")

    def within(self, least: float = 0.0) -> "Estimate":
        """The same with an interval that does not leave `least` to 1."""
        if self.interval is None:
            return self
        low, high = max(least, self.interval.low), min(1.0, self.interval.high)
        return replace(self, interval=replace(self.interval, low=low, high=high))


def missing(reason: Reason, n: int = 0) -> Estimate:
    return Estimate(value=None, n=n, reason=reason)


@dataclass(frozen=True)
class DecidedCases:
    """Verdicts beside labels."""

    labelled: int
    """Cases with a label."""
    right: Estimate
    """Right verdicts / verdicts that leave nothing to people; n is their number."""
    false_passes: int | None
    """Verdicts that pass where the label does not; None where the verdicts have no order."""
    false_fails: int | None
    """Verdicts that fail where the label does not; None likewise."""

    @property
    def number_right(self) -> int:
        return round((self.right.value or 0.0) * self.right.n)

    @property
    def left(self) -> int:
        """Cases that are left to people."""
        return self.labelled - self.right.n


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
