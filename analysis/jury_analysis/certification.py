"""Certified thresholds: from which signal on at most a share of the accepted verdicts is wrong.

Thresholds are tried from the highest down, until the upper bound of wrong / accepted exceeds the risk. Since the order
is fixed beforehand and the first failure ends it, no correction for the number of thresholds is needed (fixed sequence
testing; Learn then Test, arXiv 2110.01052; for judges arXiv 2407.18370). Levels that accept fewer verdicts than could
ever be certified, even without an error, are passed over: their number does not depend on the labels.
"""

import math
from dataclasses import dataclass

import numpy as np

from jury_analysis.vote_matrix import Bools, Floats, Ints

EXACT = "clopper-pearson"
CLUSTERED = "clustered t"
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
    """`certified`, `refused` (the sequence ends), `passed over` (too few accepted) or `not tested`."""


@dataclass(frozen=True)
class Certificate:
    """The outcome of a fixed sequence."""

    risk: float
    confidence: float
    bound: str
    """`clopper-pearson` (exact) or `clustered t` (asymptotic)."""
    units: int
    """Labelled units of the part: the denominator of the coverage."""
    clusters: int
    subject: int
    """Units with a verdict that the promise is about."""
    fewest: int
    """Accepted verdicts that the promise takes at least, without any error: ln(1 - confidence) / ln(1 - risk)."""
    candidates: tuple[Candidate, ...]
    """Levels that accept no more than the one before are left out: nothing was seen of verdicts there."""
    threshold: float | None
    """The lowest certified one; None: no threshold."""
    coverage: float | None
    """Accepted / units, at the threshold."""
    labels_needed: int | None
    """Without a threshold: labels that would do at the rate of errors that was seen; otherwise None."""
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
    """The one-sided upper bound of wrong / accepted over clusters: the risk r at which the t of Z_g ends at zero.

    Z_g = Σ accepted · (wrong - r) over the units of cluster g; every cluster counts, also one that accepts nothing
    (Fieller 1954). Asymptotic in the number of clusters. Without any error Z_g says nothing about errors: then each
    cluster that accepts is one trial, and the bound is exact.

    Args:
        accepted: [units].
        wrong: [units]: counts where accepted.
        clusters: [units], codes from 0.
        confidence: of the one-sided bound.
    """
    from scipy.special import stdtrit  # noqa: PLC0415  (part of an extra, and slow to import)

    _, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes, weights=accepted)
    errors = np.bincount(codes, weights=accepted & wrong)
    number = len(sizes)
    if not errors.sum():
        return clopper_pearson(0, int(np.count_nonzero(sizes)), confidence)
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
    candidates: list[Candidate] = []
    found: Candidate | None = None
    ended = False
    for level in levels.tolist():
        accepted = filled >= level
        count, errors = int(accepted.sum()), int((accepted & wrong).sum())
        if count == (candidates[-1].accepted if candidates else 0):
            continue
        upper = clopper_pearson(errors, count, confidence)
        if clustered:
            # With few errors t has too little skewness, and would promise more than if all cases were independent.
            upper = max(upper, clustered_bound(accepted, wrong, clusters, confidence))
        if ended:
            outcome = "not tested"
        elif count < fewest:
            outcome = "passed over"
        else:
            outcome = "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        candidates.append(Candidate(float(level), count, errors, upper, outcome))
        if outcome == "certified":
            found = candidates[-1]
    needed, reason = (None, None) if found else _needed(candidates, len(values), fewest, risk, confidence, clustered)
    return Certificate(
        risk=risk,
        confidence=confidence,
        bound=CLUSTERED if clustered else EXACT,
        units=len(values),
        clusters=number,
        subject=int(subject.sum()),
        fewest=fewest,
        candidates=tuple(candidates),
        threshold=found.threshold if found else None,
        coverage=found.accepted / len(values) if found else None,
        labels_needed=needed,
        reason=reason,
        warnings=_warnings(number) if clustered else (),
    )


def _warnings(clusters: int) -> tuple[str, ...]:
    said = "some clusters have more than one case: the bound is the clustered one, which is asymptotic"
    few = f"only {clusters} clusters, fewer than {FEW_CLUSTERS}: the promise may be broken more often than it says"
    return (said, few) if clusters < FEW_CLUSTERS else (said,)


def _needed(  # noqa: PLR0917  (what is known of a sequence without a threshold)
    candidates: list[Candidate], units: int, fewest: int, risk: float, confidence: float, clustered: bool
) -> tuple[int | None, str]:
    """How many labels would certify the first threshold that was tested, if its rate of errors is the true one."""
    tested = next((one for one in candidates if one.outcome == "refused"), None)
    if tested is None:
        most = max(candidates, key=lambda one: one.accepted, default=None)
        if most is None or not most.accepted:
            return None, "no verdict could be accepted"
        needed = math.ceil(fewest * units / most.accepted)
        return needed, f"no threshold accepts {fewest} verdicts, which the promise takes without any error"
    share = tested.wrong / tested.accepted
    seen = f"at the threshold {tested.threshold:.6g}, {tested.wrong} of {tested.accepted} accepted verdicts are wrong"
    if share >= risk:
        return None, f"{seen}: more labels like these would not do; try a higher risk or another signal"
    low = high = fewest
    while clopper_pearson(share * high, high, confidence) > risk:
        low, high = high, high * 2
        if high > _TOO_MANY:
            return None, f"{seen}: that is too close to the risk to be certified with {_TOO_MANY:,} labels"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if clopper_pearson(share * middle, middle, confidence) > risk else (low, middle)
    if clustered and not tested.wrong:
        # Every cluster that accepts is one trial: CP(0, n) gives their number back.
        trials = math.log(1 - confidence) / math.log1p(-tested.upper_bound)
        return math.ceil(
            fewest * units / trials
        ), f"{seen}, but in {round(trials)} clusters, each of which is one trial"
    if clustered:
        # The clustered bound is wider by the design effect: as many times more labels are needed.
        exact = clopper_pearson(tested.wrong, tested.accepted, confidence)
        wider = (tested.upper_bound - share) / (exact - share) if exact > share else 1.0
        high = math.ceil(high * max(1.0, wider) ** 2)
    return math.ceil(high * units / tested.accepted), seen
