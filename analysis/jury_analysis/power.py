"""How many cases a paired comparison takes, and the smallest change that it can find."""

from dataclasses import dataclass
from math import ceil, inf, sqrt
from statistics import NormalDist

from jury_analysis.score_interval import FEWEST

POWER = 0.8
"""The chance of finding a change of the size that was planned for."""

_ALPHA = 0.05  # two-sided, as the 95 % intervals
_ROUNDING = 1e-9  # an error of this size must not cost a case
_HALVINGS = 200  # of the search for the smallest change: more than a float has digits


@dataclass(frozen=True)
class PairedVariation:
    """How much the differences of pairs vary: what the power of a paired comparison depends on.

    The formula, for a mean difference d of pairs of which a share ψ differs (Connor 1987, for paired proportions; the
    simulated power for ψ = 0.1 and d = 0.05 with its 312 pairs is 0.82 for the interval, 0.75 for an exact McNemar
    test): n = (z[1-α/2]·√ψ + z[power]·√(ψ - d²))² / d², times the design effect.
    """

    mean_square: float
    """Mean squared difference of a pair. Where differences are -1, 0 and 1, this is the share ψ of pairs that differ;
    otherwise it must be the variance."""
    proportions: bool = True
    """Differences are -1, 0 and 1: a mean difference of d then needs at least a share d of pairs that differ."""
    design_effect: float = 1.0
    """How many times more pairs are needed because pairs of a cluster resemble each other; see `design_effect`."""
    cluster_size: float = 1.0
    """Mean number of pairs of a cluster. Pairs of fewer than `score_interval.FEWEST` clusters have no interval, and so
    find nothing."""

    @property
    def varies(self) -> bool:
        """Whether the differences vary. Without that, as of scores that all change alike, power has no meaning."""
        return self.proportions or self.mean_square > 0

    def cases(self, difference: float, *, power: float = POWER) -> int:
        """How many pairs find a difference of this size with this probability."""
        needed = max(self._exact(difference, power), FEWEST * self.cluster_size)
        return ceil(needed - _ROUNDING)

    def smallest(self, cases: float, *, power: float = POWER) -> float | None:
        """The smallest difference that so many pairs find with this probability; None where they find none, or
        do not vary."""
        if not self.varies or cases < FEWEST * self.cluster_size - _ROUNDING:
            return None
        if not self.proportions:
            return sqrt(_factor(power) ** 2 * self.mean_square * self.design_effect / cases)
        if self._exact(1.0, power) > cases:
            return None
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if self._exact(middle, power) > cases:
                low = middle
            else:
                high = middle
        return high

    def _exact(self, difference: float, power: float) -> float:
        if self.proportions and difference > 1:
            raise ValueError(f"a difference of shares is at most 1, not {difference}")
        if difference < 0:
            raise ValueError(f"a difference to be found must be above zero, not {difference}")
        if not difference:
            return inf
        square = difference**2
        if not self.proportions:
            return _factor(power) ** 2 * self.mean_square * self.design_effect / square
        changing = max(self.mean_square, difference)
        deviations = _quantile(1 - _ALPHA / 2) * sqrt(changing) + _quantile(power) * sqrt(changing - square)
        return deviations**2 / square * self.design_effect


def design_effect(cluster_size: float, correlation: float) -> float:
    """1 + (m - 1)·ICC for clusters of m pairs on average (Kish 1965)."""
    return 1 + (cluster_size - 1) * correlation


def _factor(power: float) -> float:
    return _quantile(1 - _ALPHA / 2) + _quantile(power)


def _quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)
