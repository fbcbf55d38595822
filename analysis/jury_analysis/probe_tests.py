"""Tests and bounds of probes, over clusters: exact with one unit a cluster."""

import numpy as np
import numpy.typing as npt

from jury_analysis.certificate import clopper_pearson, clustered_bound
from jury_analysis.vote_matrix import Bools, Floats

_CONFIDENCE = 0.95


def sign_test(
    steps: npt.NDArray[np.int64], clusters: npt.NDArray[np.int32], *, one_sided: bool = False
) -> float | None:
    """Exact sign test (Conover 1971) that clusters go up as often as down; None if none goes anywhere.

    A cluster counts once, by the sign of its sum. With one pair a cluster, and flips as steps, it is the exact test of
    McNemar.

    Args:
        steps: [pairs], -1, 0 or 1.
        clusters: [pairs].
    """
    _, codes = np.unique(clusters, return_inverse=True)
    signs = np.sign(np.bincount(codes, weights=steps))
    down, up = int(np.count_nonzero(signs < 0)), int(np.count_nonzero(signs > 0))
    if not down + up:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(binomtest(down, down + up, alternative="greater" if one_sided else "two-sided").pvalue)


def upper_bound(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> float | None:
    """The one-sided 95 % bound of successes / counted units; None without a counted unit.

    With one unit a cluster it is exact (Clopper and Pearson 1934). Otherwise it is the larger one of the same bound at
    the effective number of units (Kish 1965; Korn and Graubard 1998) and `clustered_bound`.
    """
    passed, sizes = _cluster_sums(successes, counted, clusters)
    if not len(sizes):
        return None
    bound = clopper_pearson(*_effective(passed, sizes), _CONFIDENCE)
    if (sizes == 1).all():
        return bound
    # With few clusters, or few successes, t promises too much.
    return max(
        bound, clustered_bound(counted[counted], successes[counted], clusters[counted].astype(np.int64), _CONFIDENCE)
    )


def tolerance_test(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32], tolerated: float) -> float | None:
    """One-sided test that successes / counted units is at most `tolerated`; None without a counted unit.

    It is the counterpart of `upper_bound`. With one unit a cluster it is the exact binomial test. Otherwise its p value
    is the larger one of the same test at the effective number of units, and of the t that Σ (success - tolerated) over
    the units of a cluster has a mean of zero.
    """
    passed, sizes = _cluster_sums(successes, counted, clusters)
    if not len(sizes):
        return None
    if not passed.any():
        return 1.0
    from scipy.special import betainc  # noqa: PLC0415  (part of an extra, and slow to import)

    effective, units = _effective(passed, sizes)
    p_value = float(betainc(effective, units - effective + 1, tolerated))
    # A share of zero is refuted by any success, also where t has no p value.
    return p_value if (sizes == 1).all() or not tolerated else max(p_value, _t_test(passed - tolerated * sizes))


def _cluster_sums(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
    """[clusters with a counted unit] each: successes, and counted units."""
    _, codes = np.unique(clusters[counted], return_inverse=True)
    passed = np.bincount(codes, weights=successes[counted])
    return passed.astype(np.float64), np.bincount(codes).astype(np.float64)


def _effective(passed: Floats, sizes: Floats) -> tuple[float, float]:
    """Successes and units, of as many independent units as the clusters are worth if the units of each are all alike.

    The effective number of units is (Σ size)² / Σ size² (Kish 1965); the share of successes stays.
    """
    weight = float(sizes.sum() / np.square(sizes).sum())
    return float(passed.sum()) * weight, float(sizes.sum()) * weight


def _t_test(values: Floats) -> float:
    """One-sided p value of the t test that a mean is at most zero; 1 of a single value, which has no spread."""
    if len(values) < 2:  # noqa: PLR2004  (a single value has no spread)
        return 1.0
    from scipy.special import stdtr  # noqa: PLC0415  (part of an extra, and slow to import)

    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(stdtr(len(values) - 1, -values.mean() / error)) if error else float(values.mean() <= 0)
