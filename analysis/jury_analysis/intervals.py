"""Intervals and tests over clusters: the rules for all reported figures, once.

All intervals are 95 % and over clusters, the unit that was sampled. Fewer than `FEWEST` clusters: no interval;
fewer than `FEW`: an interval with a note. No interval has width zero.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from jury_analysis.estimate import FEWEST, TAIL, Estimate, Interval, cluster_notes, missing, wilson
from jury_analysis.reasons import (
    ALIKE_WITHIN_LIMITS,
    FEW_CHANGES_WITHIN_LIMITS,
    NO_RESAMPLES,
    NO_UNIT,
    NOT_DEFINED,
    UNCHANGED_WITHIN_LIMITS,
    UNDEFINED_IN_MANY,
    UNDEFINED_IN_SOME,
    WIDTH_ZERO,
)
from jury_analysis.wording import Reason

RESAMPLES = 2000
SEED = 20260927
_MOST_UNDEFINED = 0.05  # of the resamples; beyond, the percentiles would be of a chosen part of them

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AnyInts = npt.NDArray[np.int64] | npt.NDArray[np.int32]
Statistic = Callable[[Floats], Floats]
"""From counts [resamples, patterns] to figures [resamples] or [resamples, figures]; nan where undefined."""


_NOTHING = 1e-12  # rounding errors, relative to the value
_COST_OF_A_BINOMIAL = 20  # in draws of one cluster
_CELLS = 1_000_000  # of an array of counts: 8 MB
_IN_CACHE = 50_000  # numbers that are drawn at a time: they stay in the cache of the processor


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over units with a cluster-robust t interval, and the test that it is zero."""

    mean: Estimate
    standard_error: float | None
    p_value: float | None
    """Two-sided; None without a standard error above zero, or with fewer than `FEWEST` clusters."""


def bootstrap(
    statistic: Statistic,
    patterns: AnyInts,
    clusters: AnyInts,
    *,
    n: int | Sequence[int] | None = None,
    bases: Sequence[npt.NDArray[np.bool_]] | None = None,
    undefined: Reason | Sequence[Reason] = NOT_DEFINED,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Estimate, ...]:
    """Figures with percentile intervals of the cluster bootstrap: whole clusters are drawn with replacement.

    The statistic reads counts of equal units (`vote_matrix.patterns`), so that a resample costs as much as there are
    different units. The values are the statistic of the observed counts, so value and interval are of one formula.

    Args:
        statistic: of an array of counts, one row a resample; it must not depend on the other rows.
        patterns: [units], codes 0 … of equal units.
        clusters: [units], codes of the clusters, in a canonical order (of their names).
        n: how many units the figures are based on; all by default.
        bases: [units] masks of these units, one a figure, in place of `n`, where figures are based on different
            units: each figure then counts its own clusters.
        undefined: why a figure is undefined where the statistic is nan.
        resamples: number of bootstrap samples; 0: values without intervals.
        seed: of the random generator; the same seed and data give the same interval.

    Returns:
        One estimate a figure.
    """
    patterns, clusters = np.asarray(patterns, dtype=np.int64), np.asarray(clusters, dtype=np.int64)
    width = int(patterns.max(initial=-1)) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _two_dimensional(statistic(np.bincount(patterns, minlength=width)[None, :].astype(np.float64)))[0]
        drawn = np.full((0, len(values)), np.nan)
        if resamples and _number_of(clusters) >= FEWEST:
            batches = _resampled(patterns, clusters, resamples, seed)
            drawn = np.concatenate([_two_dimensional(statistic(counts)) for counts in batches])
    if bases is not None:
        sizes = [int(np.count_nonzero(base)) for base in bases]
        samples = [int(_number_of(clusters[base])) for base in bases]
    else:
        sizes = [len(patterns) if n is None else n] * len(values) if n is None or isinstance(n, int) else list(n)
        samples = [int(_number_of(clusters))] * len(values)
    reasons = [undefined] * len(values) if isinstance(undefined, Reason) else list(undefined)
    return tuple(
        missing(reason, size)
        if np.isnan(value)
        else _with_percentiles(float(value), size, drawn[:, figure], (sample, resamples, seed))
        for figure, (value, size, sample, reason) in enumerate(zip(values, sizes, samples, reasons, strict=True))
    )


def clustered_mean(values: npt.ArrayLike, weights: npt.ArrayLike, clusters: AnyInts) -> ClusteredMean:
    """The weighted mean Σwv/Σw with the CR1 standard error of a ratio over clusters, and t with K-1 degrees of freedom.

    se = √Σ(S_g - μM_g)² / ΣM_g · √(K/(K-1)), where S_g and M_g are the sums of wv and w in cluster g (Miller,
    "Adding error bars to evals", arXiv 2411.00640). Clusters without weight do not count.

    Args:
        values: [units].
        weights: [units], not negative; 0 leaves a unit out. `n` of the mean counts units with a weight.
        clusters: [units].
    """
    value, weight = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    counted = weight > 0
    units = int(np.count_nonzero(counted))
    if not units:
        return ClusteredMean(missing(NO_UNIT), None, None)
    codes = np.asarray(clusters)[counted]
    sampled = np.flatnonzero(np.bincount(codes))
    sums = np.bincount(codes, weights=value[counted] * weight[counted])[sampled]
    sizes = np.bincount(codes, weights=weight[counted])[sampled]
    number = len(sums)
    mean = float(sums.sum() / sizes.sum())
    if number < FEWEST:
        return ClusteredMean(Estimate(mean, None, units, notes=cluster_notes(number)), None, None)
    spread = float(np.sqrt(np.square(sums - mean * sizes).sum()) / sizes.sum())
    error = spread * float(np.sqrt(number / (number - 1)))
    if error <= _NOTHING * max(1.0, abs(mean)):
        return ClusteredMean(Estimate(mean, None, units, notes=(*cluster_notes(number), WIDTH_ZERO)), None, None)
    half = t_quantile(number - 1) * error
    interval = Interval(mean - half, mean + half, "clustered t", number)
    return ClusteredMean(
        Estimate(mean, interval, units, notes=cluster_notes(number)), error, t_tails(mean / error, number - 1)
    )


def bounded_change(differences: npt.ArrayLike, clusters: AnyInts, *, largest: float = 1.0) -> ClusteredMean:
    """The mean of paired differences within ±largest, with an interval over clusters: as `clustered_mean`.

    Where the difference is not zero in fewer than `FEWEST` clusters, t is no approximation. The interval then also
    covers `largest` times the square-and-add limits of (clusters that rise - clusters that fall) / K, from Wilson's
    limits of both shares (Newcombe 1998, method 10), so that few changes are not taken for none.

    Where the mean is the same in all clusters, t has no interval. At most a share w of clusters may differ, by Wilson's
    limit of none of K, and those lie within ±largest: the interval of a mean m is (1 - w)·m ± w·largest.

    Args:
        differences: [pairs]; of shares -1, 0 and 1.
        clusters: [pairs].
        largest: the largest difference that a pair can have.
    """
    values = np.asarray(differences, dtype=np.float64)
    found = clustered_mean(values, np.ones(len(values)), clusters)
    if not len(values):
        return found
    _, codes = np.unique(clusters, return_inverse=True)
    number = int(codes.max()) + 1
    changing = int(np.count_nonzero(np.bincount(codes, weights=np.abs(values)) > 0))
    mean, interval = found.mean.value, found.mean.interval
    if number < FEWEST or mean is None or (changing >= FEWEST and interval is not None):
        return found
    notes = tuple(note for note in found.mean.notes if note != WIDTH_ZERO)
    if interval is None:
        others = wilson(0, number).interval
        if others is None:
            raise AssertionError(f"there are {FEWEST} clusters or more, so the share has limits")
        middle, half = (1 - others.high) * mean, others.high * largest
        limits = Interval(middle - half, middle + half, "wilson", number)
        notes += (ALIKE_WITHIN_LIMITS if changing else UNCHANGED_WITHIN_LIMITS,)
    else:
        sums = np.bincount(codes, weights=values)
        low, high = square_and_add(int(np.count_nonzero(sums > 0)), int(np.count_nonzero(sums < 0)), number)
        low, high = min(largest * low, interval.low), max(largest * high, interval.high)
        limits = Interval(low, high, "clustered t and wilson", number)
        notes += (FEW_CHANGES_WITHIN_LIMITS(n=changing, least=FEWEST),)
    return replace(found, mean=replace(found.mean, interval=limits, notes=notes))


def square_and_add(rising: int, falling: int, number: int) -> tuple[float, float]:
    """Limits of (rising - falling) / number, from Wilson's limits of both shares."""
    up, down = wilson(rising, number), wilson(falling, number)
    if up.interval is None or down.interval is None or up.value is None or down.value is None:
        raise AssertionError(f"there are {FEWEST} clusters or more, so both shares have limits")
    difference = up.value - down.value
    below = float(np.hypot(up.value - up.interval.low, down.interval.high - down.value))
    above = float(np.hypot(up.interval.high - up.value, down.value - down.interval.low))
    return max(-1.0, difference - below), min(1.0, difference + above)


def proportion(successes: npt.ArrayLike, counted: npt.ArrayLike, clusters: AnyInts) -> Estimate:
    """The share of successes among counted units, with an interval over clusters.

    Wilson's interval where each cluster has one counted unit; otherwise the cluster-robust t, and Wilson's interval
    with one success or failure a cluster where all units agree.

    Args:
        successes: [units] bool.
        counted: [units] bool: the denominator.
        clusters: [units].
    """
    success, count = np.asarray(successes, dtype=np.bool_), np.asarray(counted, dtype=np.bool_)
    units = int(np.count_nonzero(count))
    if not units:
        return missing(NO_UNIT)
    number = _number_of(clusters[count])
    if number == units:
        return wilson(int(np.count_nonzero(success & count)), units)
    estimate = clustered_mean(success, count, clusters).mean
    if estimate.interval is not None or number < FEWEST or estimate.value is None:
        return estimate.within()
    return replace(wilson(estimate.value * number, number), n=units)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """P values of one family of tests, adjusted by Holm's step-down method; None stays None and does not count."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = largest
    return tuple(adjusted)


def t_quantile(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(stdtrit(freedom, 1 - TAIL))


def _resampled(patterns: Ints, clusters: Ints, resamples: int, seed: int) -> Iterator[Floats]:
    """Counts of the patterns in each resample, in batches of bounded size.

    Clusters with the same units are interchangeable, so a resample needs only how often each kind of cluster is drawn.
    """
    used = np.bincount(clusters) > 0
    clusters = (np.cumsum(used) - 1)[clusters]
    kinds, sizes = _kinds_of_clusters(patterns, clusters)
    number, width = len(kinds), int(patterns.max()) + 1
    representative = np.empty(len(sizes), dtype=np.int64)
    representative[kinds] = np.arange(number)
    chosen = representative[kinds[clusters]] == clusters
    cells, times = np.unique(kinds[clusters[chosen]] * width + patterns[chosen], return_counts=True)
    of_kind, of_pattern = np.divmod(cells, width)
    alone = len(cells) == len(sizes) == width and bool((times == 1).all())  # each kind of cluster is one unit
    dense = not alone and len(sizes) * width <= _CELLS
    units = np.zeros((len(sizes), width) if dense else (0, 0))
    if dense:
        units[of_kind, of_pattern] = times
    generator = np.random.default_rng(seed)
    many_alike = len(sizes) * _COST_OF_A_BINOMIAL < number
    batch = max(1, min(resamples, _CELLS // max(width, len(sizes) if many_alike else number)))
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        if many_alike:
            drawn = generator.multinomial(number, sizes / number, size=rows)
        else:
            drawn = _drawn_one_by_one(generator, kinds, len(sizes), rows)
        if alone:
            order = of_kind[np.argsort(of_pattern)]
            in_order = np.array_equal(order, np.arange(len(order)))
            yield (drawn if in_order else drawn[:, order]).astype(np.float64)
        elif dense:
            yield drawn.astype(np.float64) @ units
        else:
            yield np.stack([np.bincount(of_pattern, weights=row[of_kind] * times, minlength=width) for row in drawn])


def _drawn_one_by_one(generator: np.random.Generator, kinds: Ints, width: int, rows: int) -> Ints:
    """[rows, width]: how often each kind of cluster is drawn, from one random number a cluster."""
    drawn = np.empty((rows, width), dtype=np.int64)
    block = max(1, _IN_CACHE // max(len(kinds), width))
    for start in range(0, rows, block):
        size = min(block, rows - start)
        chosen = kinds[generator.integers(0, len(kinds), size=(size, len(kinds)))]
        chosen += np.arange(size)[:, None] * width
        drawn[start : start + size] = np.bincount(chosen.ravel(), minlength=size * width).reshape(size, width)
    return drawn


def _kinds_of_clusters(patterns: Ints, clusters: Ints) -> tuple[Ints, Ints]:
    """[clusters]: codes of clusters with the same units, in the order of their first one; and how many there are.

    Clusters are compared by the sums of random 64-bit numbers that stand for the patterns.
    """
    number = int(clusters.max()) + 1
    signatures: npt.NDArray[np.int64] | npt.NDArray[np.uint64]
    if number == len(clusters):
        signatures = np.empty(number, dtype=np.int64)
        signatures[clusters] = patterns
    else:
        numbers = np.random.default_rng(0).integers(0, 2**64, size=int(patterns.max()) + 1, dtype=np.uint64)
        signatures = np.zeros(number, dtype=np.uint64)
        np.add.at(signatures, clusters, numbers[patterns])
        _, signatures = np.unique(signatures, return_inverse=True)
    first = np.full(int(signatures.max()) + 1, number, dtype=np.int64)
    first[signatures[::-1]] = np.arange(number)[::-1]  # of equal ones the last assignment stays: the first cluster
    order = np.argsort(first, kind="stable")
    order = order[: np.count_nonzero(first < number)]
    rank = np.zeros_like(first)
    rank[order] = np.arange(len(order))
    kinds = rank[signatures]
    return kinds, np.bincount(kinds)


def _with_percentiles(value: float, n: int, drawn: Floats, how: tuple[int, int, int]) -> Estimate:
    clusters, resamples, seed = how
    notes = cluster_notes(clusters)
    if clusters < FEWEST:
        return Estimate(value, None, n, notes=notes)
    if not resamples:
        return Estimate(value, None, n, notes=(NO_RESAMPLES,))
    defined = drawn[~np.isnan(drawn)]
    lost = len(drawn) - len(defined)
    if lost > _MOST_UNDEFINED * len(drawn):
        return Estimate(value, None, n, notes=(*notes, UNDEFINED_IN_MANY(n=lost, all=resamples)))
    if lost:
        notes = (*notes, UNDEFINED_IN_SOME(n=lost, all=resamples))
    low, high = (float(bound) for bound in np.quantile(defined, (TAIL, 1 - TAIL)))
    if high - low <= _NOTHING * max(1.0, abs(value)):
        return Estimate(value, None, n, notes=(*notes, WIDTH_ZERO))
    return Estimate(value, Interval(low, high, "cluster bootstrap", clusters, resamples, seed), n, notes=notes)


def _number_of(codes: AnyInts) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def _two_dimensional(figures: Floats) -> Floats:
    return figures[:, None] if figures.ndim == 1 else figures


def t_tails(statistic: float, freedom: int) -> float:
    """The probability of Student's t beyond ±statistic."""
    from scipy.special import stdtr  # noqa: PLC0415  (part of an extra, and slow to import)

    return float(2 * stdtr(freedom, -abs(statistic)))


_ALIKE = 1e-9  # points of a standard error that are only rounding


@dataclass(frozen=True)
class PossibleChange:
    """Bounds over every value that the missing ones could have: a decision that holds within them holds for each."""

    n: int
    """Units with a missing value, on one side or both."""
    low: float
    """The lowest lower end of the interval."""
    high: float
    """The highest upper end of the interval."""
    high_at_least: float
    """No upper end is below it."""
    low_at_most: float
    """No lower end is above it."""
    p_value: float
    """No p value of a change of zero is above it."""

    @property
    def negative(self) -> "PossibleChange":
        """The same of the change in the other direction."""
        return PossibleChange(
            self.n,
            -self.high,
            -self.low,
            high_at_least=-self.low_at_most,
            low_at_most=-self.high_at_least,
            p_value=self.p_value,
        )


def possible_change(
    lowest: npt.ArrayLike, highest: npt.ArrayLike, clusters: npt.NDArray[np.int32], *, largest: float
) -> PossibleChange | None:
    """Bounds of the interval of `intervals.bounded_change` for all differences between `lowest` and `highest`.

    The mean lies between that of all lowest and that of all highest differences. A cluster is farthest from a mean
    m at an end of its sum and of m, which bounds the standard error from above; the clusters without a missing value
    bound it from below. Where few clusters may change, the limits of every possible number of them are covered.

    Args:
        lowest: [pairs]: what each difference is at least.
        highest: [pairs]: what it is at most; the same where it is known.
        clusters: [pairs].
        largest: the largest difference that a pair can have.

    Returns:
        None with fewer than `FEWEST` clusters: there is no interval.
    """
    low, high = np.asarray(lowest, dtype=np.float64), np.asarray(highest, dtype=np.float64)
    _, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    number = len(sizes)
    if number < FEWEST:
        return None
    sums = np.stack([np.bincount(codes, weights=one).astype(np.float64) for one in (low, high)])
    means = sums.sum(axis=1) / len(low)
    least, most = _spread(sums, sizes, means)
    scale = float(np.sqrt(number / (number - 1))) / len(low)
    half, least_half = (t_quantile(number - 1) * scale * spread for spread in (most, least))
    bounds = [(float(means[0]) - half, float(means[1]) + half)]
    if least * scale <= _ALIKE:  # all clusters may change alike
        others = wilson(0, number).interval
        assert others is not None, f"there are {FEWEST} clusters or more"
        widened = largest * others.high
        bounds.append(tuple((1 - others.high) * means + np.array([-widened, widened])))
    bounds += _of_few(sums, codes, low, high, largest)
    nearest = 0.0 if means[0] <= 0 <= means[1] else float(np.abs(means).min())
    return PossibleChange(
        n=int(np.count_nonzero(low < high)),
        low=float(min(one for one, _ in bounds)),
        high=float(max(one for _, one in bounds)),
        high_at_least=float(means[0]) + least_half,
        low_at_most=float(means[1]) - least_half,
        p_value=t_tails(nearest / (most * scale), number - 1) if most else 1.0,
    )


def _spread(sums: Floats, sizes: Floats, means: Floats) -> tuple[float, float]:
    """Least and greatest root of the sum over clusters of (S - size·m)², over the sums S [2, clusters] and means m."""
    farthest = np.abs(sums[:, None, :] - means[None, :, None] * sizes).max(axis=(0, 1))
    known = sums[0] == sums[1]
    total, size = sums[0, known], sizes[known]
    nearest = float(np.clip(total @ size / (size @ size), *means)) if len(size) else 0.0
    return float(np.linalg.norm(total - nearest * size)), float(np.linalg.norm(farthest))


def _of_few(
    sums: Floats, codes: npt.NDArray[np.int64], low: Floats, high: Floats, largest: float
) -> list[tuple[float, float]]:
    """The square-and-add limits of all numbers of rising and falling clusters that are fewer than `FEWEST` together."""
    number = sums.shape[1]
    certain = np.bincount(codes, weights=(low > 0) | (high < 0)) > 0
    if np.count_nonzero(certain) >= FEWEST:
        return []
    rising = range(int(np.count_nonzero(sums[0] > 0)), int(np.count_nonzero(sums[1] > 0)) + 1)
    falling = range(int(np.count_nonzero(sums[1] < 0)), int(np.count_nonzero(sums[0] < 0)) + 1)
    limits = [
        square_and_add(up, down, number)
        for up, down in product(rising[:FEWEST], falling[:FEWEST])
        if up + down < FEWEST
    ]
    return [(largest * one, largest * other) for one, other in limits]
