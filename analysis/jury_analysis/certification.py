"""Certified thresholds: from which signal on at most a share of the accepted verdicts is wrong.

Thresholds are tried from the highest down, until the upper bound of wrong / accepted exceeds the risk. Since the order
is fixed beforehand and the first failure ends it, no correction for the number of thresholds is needed (fixed sequence
testing; Learn then Test, arXiv 2110.01052; for judges arXiv 2407.18370). Levels that accept verdicts in fewer clusters
than could ever be certified, even without an error, are passed over: their number does not depend on the labels.
"""

import math
from dataclasses import dataclass

import numpy as np

from jury_analysis.vote_matrix import Bools, Floats, Ints

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


def fewest_labels(risk: float, confidence: float) -> int:
    """The least number of accepted verdicts, all of them right, that certifies a risk: ln δ / ln(1 - r), rounded up."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-risk) - 1e-9)


def clopper_pearson(wrong: float, accepted: float, confidence: float) -> float:
    """The one-sided upper bound of a share (Clopper and Pearson 1934): the quantile of Beta(wrong + 1, right)."""
    if wrong >= accepted:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(betaincinv(wrong + 1, accepted - wrong, confidence))


def clustered_bound(accepted: Bools, wrong: Bools, clusters: Ints, confidence: float) -> float:
    """The one-sided upper bound of wrong / accepted over clusters: the highest of three.

    1. The risk r at which the t of Z_g = Σ accepted · (wrong - r) over the units of cluster g ends at zero; every
       cluster counts, also one that accepts nothing (Fieller 1954). Too low for few errors, which are skewed.
    2. Clopper and Pearson's bound for as many independent units as the accepted ones are worth (Korn, Graubard 1998).
    3. Their bound without an error, each cluster that accepts being one trial. Without an error it is the only one, and
       exact; the others are asymptotic in the number of clusters.

    Args:
        accepted: [units].
        wrong: [units]: counts where accepted.
        clusters: [units], codes from 0.
        confidence: of the one-sided bound.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes, weights=accepted).astype(np.float64)
    errors = np.bincount(codes, weights=accepted & wrong).astype(np.float64)
    without_error = clopper_pearson(0, int(np.count_nonzero(sizes)), confidence)
    if not errors.sum():
        return without_error
    return max(without_error, _t_bound(sizes, errors, confidence), _effective_bound(sizes, errors, confidence))


def _t_bound(sizes: Floats, errors: Floats, confidence: float) -> float:
    """Of accepted and wrong units by cluster, with an error in one at least."""
    from scipy.special import stdtrit  # noqa: PLC0415  (part of an extra, and slow to import)

    number = len(sizes)
    if number < 2:  # noqa: PLR2004  (one cluster has no spread)
        return 1.0
    t = float(stdtrit(number - 1, confidence))
    mean_size, mean_error = sizes.mean(), errors.mean()
    covariance = np.cov(sizes, errors) * t * t / number
    square = mean_size**2 - covariance[0, 0]
    if square <= 0:
        return 1.0
    half = mean_size * mean_error - covariance[0, 1]
    rest = half**2 - square * (mean_error**2 - covariance[1, 1])
    return float(min(1.0, (half + math.sqrt(max(0.0, rest))) / square))


def _effective_bound(sizes: Floats, errors: Floats, confidence: float) -> float:
    """As `_t_bound`; what units are worth is corrected for the degrees of freedom, and is at most their number."""
    from scipy.special import stdtrit  # noqa: PLC0415  (part of an extra, and slow to import)

    units, number = float(sizes.sum()), int(np.count_nonzero(sizes))
    share = float(errors.sum()) / units
    if number < 2 or share == 1:  # noqa: PLR2004  (one cluster has no spread)
        return 1.0
    variance = float(((errors - share * sizes) ** 2).sum()) / units**2 * number / (number - 1)
    independent = share * (1 - share) / units
    effect = max(
        1.0, variance / independent * float(stdtrit(number - 1, confidence) / stdtrit(units - 1, confidence)) ** 2
    )
    return clopper_pearson(share * units / effect, units / effect, confidence)


def certify(
    values: Floats, wrong: Bools, clusters: Ints, levels: Floats, *, risk: float, confidence: float
) -> Certificate:
    """Find the lowest threshold of the sequence whose bound is at most `risk`.

    Args:
        values: [labelled units]: the signal; nan where there is no verdict that the promise is about.
        wrong: [labelled units].
        clusters: [labelled units]. Where a cluster has more than one unit the bound is the clustered one.
        levels: thresholds, descending, that were fixed without these labels.
        risk: most wrong / accepted, 0-1.
        confidence: of the promise, 0-1.
    """
    subject = ~np.isnan(values)
    filled = np.where(subject, values, -1.0)
    number = len(np.unique(clusters))
    clustered = number < len(clusters)
    fewest = fewest_labels(risk, confidence)
    tried: list[tuple[Candidate, int]] = []
    found: Candidate | None = None
    ended = False
    for level in levels.tolist():
        accepted = filled >= level
        count, errors = int(accepted.sum()), int((accepted & wrong).sum())
        if count == (tried[-1][0].accepted if tried else 0):
            continue
        # Of independent units if each is its own cluster.
        trials = len(np.unique(clusters[accepted]))
        bound = clustered_bound(accepted, wrong, clusters, confidence) if clustered else 0.0
        upper = max(clopper_pearson(errors, count, confidence), bound)
        if ended:
            outcome = "not tested"
        elif trials < fewest:
            outcome = "passed over"
        else:
            outcome = "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        candidate = Candidate(float(level), count, errors, upper, outcome)
        tried.append((candidate, trials))
        if outcome == "certified":
            found = candidate
    needed, reason = (None, None) if found else _needed(tried, len(values), fewest, risk, confidence, clustered)
    return Certificate(
        risk=risk,
        confidence=confidence,
        bound=CLUSTERED if clustered else EXACT,
        units=len(values),
        clusters=number,
        subject=int(subject.sum()),
        fewest=fewest,
        candidates=tuple(candidate for candidate, _ in tried),
        threshold=found.threshold if found else None,
        coverage=found.accepted / len(values) if found else None,
        labels_needed=needed,
        reason=reason,
        warnings=_warnings(number) if clustered else (),
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
