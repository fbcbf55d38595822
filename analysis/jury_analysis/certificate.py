"""Certificates: which threshold the counts of accepted and wrong verdicts certify, at a risk and a confidence.

A certificate follows from counts alone, so a reader of a calibration computes it again. Like `risk_bounds` this needs
the standard library only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jury_analysis.risk_bounds import accepting, bound_by_cluster, clopper_pearson

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
        units: labelled units.
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
