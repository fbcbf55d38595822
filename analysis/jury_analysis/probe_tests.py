"""Exact tests and bounds of probes, over clusters."""

import numpy as np
import numpy.typing as npt

from jury_analysis.vote_matrix import Bools, Ints

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
        one_sided: test only that more go down.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    signs = np.sign(np.bincount(codes, weights=steps))
    down, up = int(np.count_nonzero(signs < 0)), int(np.count_nonzero(signs > 0))
    if not down + up:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(binomtest(down, down + up, alternative="greater" if one_sided else "two-sided").pvalue)


def upper_bound(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> float | None:
    """The one-sided 95 % bound of a share (Clopper and Pearson 1934); None without a counted unit.

    A cluster counts once, as a success if any of its units is one: with several units a cluster the bound is one of
    that larger share, so it is not below the share of units.
    """
    passed, number = _clusters(successes, counted, clusters)
    if not number:
        return None
    if passed == number:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(betaincinv(passed + 1, number - passed, _CONFIDENCE))


def tolerance_test(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32], tolerated: float) -> float | None:
    """One-sided exact binomial test that a share is at most `tolerated`; None without a counted unit.

    Of each cluster the first counted unit is taken, so that units are independent.
    """
    chosen = np.flatnonzero(counted)
    if not len(chosen):
        return None
    _, first = np.unique(clusters[chosen], return_index=True)
    taken = chosen[first]
    from scipy.stats import binomtest  # noqa: PLC0415  (part of an extra, and slow to import)

    passed = int(np.count_nonzero(successes[taken]))
    return float(binomtest(passed, len(taken), tolerated, alternative="greater").pvalue)


def _clusters(successes: Bools, counted: Bools, clusters: npt.NDArray[np.int32]) -> tuple[int, int]:
    """How many counted clusters have a success, and how many there are."""
    used: Ints = np.unique(clusters[counted]).astype(np.int64)
    passed: Ints = np.unique(clusters[counted & successes]).astype(np.int64)
    return len(passed), len(used)
