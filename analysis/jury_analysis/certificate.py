"""Certificates: which threshold the counts of accepted and wrong verdicts certify, at a risk and a confidence.

A certificate follows from counts alone, so a reader of a calibration computes it again. This needs the
standard library only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

ByCluster = Sequence[tuple[int, int, int]]
"""Accepted units, wrong ones of these, and how many clusters have these two counts; those that accept nothing too."""

_STEPS = 300
_TERMS = 100_000
_EXACT = 4e-16
_TINY = 1e-300


def clopper_pearson(wrong: float, accepted: float, confidence: float) -> float:
    """The one-sided upper bound of a share (Clopper and Pearson 1934): the quantile of Beta(wrong + 1, right)."""
    if wrong >= accepted:
        return 1.0
    if not wrong:
        return -math.expm1(math.log1p(-confidence) / accepted)
    return _beta_quantile(confidence, wrong + 1, accepted - wrong)


def bound_by_cluster(by_cluster: ByCluster, confidence: float) -> float:
    """The one-sided upper bound of wrong / accepted over clusters: the highest of three.

    1. The risk r at which the t of Z_g = Σ accepted · (wrong - r) over the units of cluster g ends at zero; every
       cluster counts, also one that accepts nothing (Fieller 1954). Too low for few errors, which are skewed.
    2. Clopper and Pearson's bound for as many independent units as the accepted ones are worth (Korn, Graubard 1998).
    3. Their bound without an error, each cluster that accepts being one trial. Without an error it is the only one, and
       exact; the others are asymptotic in the number of clusters.
    """
    without_error = clopper_pearson(0, accepting(by_cluster), confidence)
    if not any(wrong for _, wrong, _ in by_cluster):
        return without_error
    return max(without_error, _t_bound(by_cluster, confidence), _effective_bound(by_cluster, confidence))


def accepting(by_cluster: ByCluster) -> int:
    """How many clusters accept a unit."""
    return sum(clusters for accepted, _, clusters in by_cluster if accepted)


def _t_bound(by_cluster: ByCluster, confidence: float) -> float:
    """With an error in one cluster at least."""
    number = sum(clusters for *_, clusters in by_cluster)
    if number < 2:  # noqa: PLR2004  (one cluster has no spread)
        return 1.0
    size = sum(accepted * clusters for accepted, _, clusters in by_cluster) / number
    error = sum(wrong * clusters for _, wrong, clusters in by_cluster) / number

    def covariance(of: Sequence[tuple[float, float, int]]) -> float:
        return math.fsum(one * other * clusters for one, other, clusters in of) / (number - 1)

    apart = [(accepted - size, wrong - error, clusters) for accepted, wrong, clusters in by_cluster]
    factor = _t_quantile(confidence, number - 1) ** 2 / number
    square = size**2 - factor * covariance([(one, one, clusters) for one, _, clusters in apart])
    if square <= 0:
        return 1.0
    half = size * error - factor * covariance(apart)
    rest = half**2 - square * (error**2 - factor * covariance([(one, one, clusters) for _, one, clusters in apart]))
    return min(1.0, (half + math.sqrt(max(0.0, rest))) / square)


def _effective_bound(by_cluster: ByCluster, confidence: float) -> float:
    """As `_t_bound`; what units are worth is corrected for the degrees of freedom, and is at most their number."""
    units = sum(accepted * clusters for accepted, _, clusters in by_cluster)
    share = sum(wrong * clusters for _, wrong, clusters in by_cluster) / units
    number = accepting(by_cluster)
    if number < 2 or share == 1:  # noqa: PLR2004  (one cluster has no spread)
        return 1.0
    squares = math.fsum((wrong - share * accepted) ** 2 * clusters for accepted, wrong, clusters in by_cluster)
    variance = squares / units**2 * number / (number - 1)
    independent = share * (1 - share) / units
    # At the middle both quantiles are zero: there is nothing to correct.
    of_units = _t_quantile(confidence, units - 1)
    correction = _t_quantile(confidence, number - 1) / of_units if of_units else 1.0
    effect = max(1.0, variance / independent * correction**2)
    return clopper_pearson(share * units / effect, units / effect, confidence)


def _t_quantile(confidence: float, freedom: int) -> float:
    """Of Student's t: y = t² / (freedom + t²) has the distribution Beta(1/2, freedom/2)."""
    central = abs(2 * confidence - 1)
    if not central:
        return 0.0
    y = _beta_quantile(central, 0.5, freedom / 2)
    return math.copysign(math.sqrt(freedom * y / (1 - y)), confidence - 0.5)


def _beta_quantile(chance: float, a: float, b: float) -> float:
    """The x at which the regularised incomplete beta function I_x(a, b) is `chance`: Newton's steps in a bracket."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_STEPS):
        excess = _incomplete_beta(x, a, b) - chance
        low, high = (low, x) if excess > 0 else (x, high)
        density = math.exp(_log_front(x, a, b)) / (x * (1 - x))
        after = x - excess / density if density else low
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - x) <= _EXACT * x:
            return after
        x = after
    return x


def _log_front(x: float, a: float, b: float) -> float:
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) for 0 < x < 1, by its continued fraction where that converges fast (DLMF 8.17.22)."""
    front = math.exp(_log_front(x, a, b))
    if x <= (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of I_x(a, b), evaluated forwards (Lentz 1976, as modified by Thompson and Barnett)."""
    numerator = 1.0
    denominator = value = 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    for step in range(1, _TERMS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for factor in (even, odd):
            denominator = 1 / (1 + factor * denominator or _TINY)
            numerator = 1 + factor / numerator or _TINY
            value *= denominator * numerator
        if abs(denominator * numerator - 1) < _EXACT:
            break
    return value


EXACT = "clopper-pearson"
CLUSTERED = "clustered"
FEW_CLUSTERS = 100
_TOO_MANY = 10_000_000


@dataclass(frozen=True)
class Candidate:
    """One threshold that was tried."""

    threshold: float
    accepted: int
    """Units whose signal reaches it."""
    wrong: int
    """Of these."""
    upper_bound: float
    """One-sided, of wrong / accepted."""
    outcome: str
    """`certified`, `refused` (the sequence ends), `passed over` (in too few clusters) or `not tested`."""
    by_cluster: tuple[tuple[int, int, int], ...] = ()
    """Accepted units, wrong ones of these, and how many clusters have these counts; () where each unit is its own
    cluster."""


@dataclass(frozen=True)
class Certificate:
    """The outcome of a fixed sequence."""

    risk: float
    confidence: float
    bound: str
    """`clopper-pearson` (exact) or `clustered` (asymptotic)."""
    units: int
    """Labelled units of the part: the denominator of the coverage."""
    clusters: int
    subject: int
    """Units with a verdict that the promise is about."""
    fewest: int
    """Clusters with accepted verdicts that the promise takes at least, without any error:
    ln(1 - confidence) / ln(1 - risk)."""
    candidates: tuple[Candidate, ...]
    """Levels that accept no more than the one before are left out: nothing was seen of verdicts there."""
    threshold: float | None
    """The lowest certified one; None: no threshold."""
    coverage: float | None
    """Accepted / units, at the threshold."""
    labels_needed: int | None
    """Without a threshold: labels that would do at the rate of errors that was seen, in as many times more clusters;
    otherwise None."""
    reason: str | None
    """Without a threshold: why."""
    warnings: tuple[str, ...] = ()


class Tried(NamedTuple):
    """The counts at one threshold; `by_cluster` as of `Candidate`."""

    threshold: float
    accepted: int
    wrong: int
    by_cluster: tuple[tuple[int, int, int], ...] = ()

    @property
    def trials(self) -> int:
        """Clusters with an accepted verdict."""
        return accepting(self.by_cluster) if self.by_cluster else self.accepted


def fewest_labels(risk: float, confidence: float) -> int:
    """The least number of accepted verdicts, all of them right, that certifies a risk: ln δ / ln(1 - r), rounded up."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-risk) - 1e-9)


def certificate(
    sequence: Sequence[Tried], *, units: int, clusters: int, subject: int, risk: float, confidence: float
) -> Certificate:
    """The certificate that these counts give.

    Args:
        sequence: by threshold, descending.
        clusters: of the units. Where they are fewer the bound is the clustered one.
        subject: units with a verdict that the promise is about.
        risk: most wrong / accepted, 0-1.
        confidence: of the promise, 0-1.
    """
    clustered = clusters < units
    fewest = fewest_labels(risk, confidence)
    tried: list[tuple[Candidate, int]] = []
    found: Candidate | None = None
    ended = False
    for one in sequence:
        bound = bound_by_cluster(one.by_cluster, confidence) if clustered else 0.0
        upper = max(clopper_pearson(one.wrong, one.accepted, confidence), bound)
        if ended:
            outcome = "not tested"
        elif one.trials < fewest:
            outcome = "passed over"
        else:
            outcome = "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        candidate = Candidate(one.threshold, one.accepted, one.wrong, upper, outcome, one.by_cluster)
        tried.append((candidate, one.trials))
        if outcome == "certified":
            found = candidate
    needed, reason = (None, None) if found else _needed(tried, units, fewest, risk, confidence, clustered)
    return Certificate(
        risk=risk,
        confidence=confidence,
        bound=CLUSTERED if clustered else EXACT,
        units=units,
        clusters=clusters,
        subject=subject,
        fewest=fewest,
        candidates=tuple(candidate for candidate, _ in tried),
        threshold=found.threshold if found else None,
        coverage=found.accepted / units if found else None,
        labels_needed=needed,
        reason=reason,
        warnings=_warnings(clusters) if clustered else (),
    )


def _warnings(clusters: int) -> tuple[str, ...]:
    said = "some clusters have more than one case: the bound is the clustered one, which is asymptotic"
    few = (
        f"only {clusters} cluster{'' if clusters == 1 else 's'}, fewer than {FEW_CLUSTERS}: the promise may be broken "
        "more often than it says"
    )
    return (said, few) if clusters < FEW_CLUSTERS else (said,)


def _needed(  # noqa: PLR0917  (what is known of a sequence without a threshold)
    tried: list[tuple[Candidate, int]], units: int, fewest: int, risk: float, confidence: float, clustered: bool
) -> tuple[int | None, str]:
    """How many labels would certify the first threshold that was tested, if its rate of errors is the true one.

    `tried` has the number of clusters that accept beside each candidate.
    """
    tested = next((one for one, _ in tried if one.outcome == "refused"), None)
    if tested is None:
        most = max((trials for _, trials in tried), default=0)
        if not most:
            return None, "no verdict could be accepted"
        wanted = f"verdicts in {fewest} clusters" if clustered else f"{fewest} verdicts"
        reason = f"none accepts {wanted}, which the promise takes without any error"
        return math.ceil(fewest * units / most), reason
    share = tested.wrong / tested.accepted
    seen = f"at the threshold {tested.threshold:.6g}, {tested.wrong} of {tested.accepted} accepted verdicts are wrong"
    if share >= risk:
        return None, f"{seen}: more labels like these would not do; try a higher risk or another signal"
    if tested.upper_bound >= 1:
        return None, f"{seen}: the clusters differ too much to say how many labels would do"
    low = high = fewest
    while clopper_pearson(share * high, high, confidence) > risk:
        low, high = high, high * 2
        if high > _TOO_MANY:
            return None, f"{seen}: that is too close to the risk to be certified with {_TOO_MANY:,} labels"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if clopper_pearson(share * middle, middle, confidence) > risk else (low, middle)
    if clustered:
        # The clustered bound is wider by the design effect: as many times more labels are needed.
        exact = clopper_pearson(tested.wrong, tested.accepted, confidence)
        high = math.ceil(high * ((tested.upper_bound - share) / (exact - share)) ** 2)
    return math.ceil(high * units / tested.accepted), seen
