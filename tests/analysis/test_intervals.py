"""Intervals and tests over clusters: hand-worked, scipy and statsmodels, and the rules that hold for all figures."""

import numpy as np
import pytest

from jury_analysis import (
    FEW,
    FEWEST,
    Estimate,
    Interval,
    bootstrap,
    bounded_change,
    clustered_mean,
    holm,
    possible_change,
    proportion,
    wilson,
)
from jury_analysis.reasons import DEPENDENT, NO_RESAMPLES, WIDTH_ZERO
from support.each_row import each_row


def mean_of(values: list[float]):
    """The mean of units whose pattern is a position in `values`."""
    return lambda counts: counts @ np.array(values) / counts.sum(axis=1)


def interval(estimate: Estimate) -> Interval:
    assert estimate.interval is not None
    return estimate.interval


@each_row(("clusters", "kinds"), [(400, 2), (400, 60)])
def test_the_bootstrap_of_a_mean_agrees_with_the_normal_approximation(clusters: int, kinds: int) -> None:
    """Kinds of very different sizes, few and many: a resample is counted in two ways."""
    generator = np.random.default_rng(3)
    drawn = np.minimum(generator.geometric(0.3 if kinds == 2 else 0.1, size=clusters) - 1, kinds - 1)
    _, codes = np.unique(drawn, return_inverse=True)
    values = np.unique(drawn).astype(float)

    (estimate,) = bootstrap(mean_of(list(values)), codes, np.arange(clusters))

    error = float(drawn.std() / np.sqrt(clusters))
    assert drawn.mean() == pytest.approx(estimate.value)
    assert drawn.mean() - 1.96 * error == pytest.approx(interval(estimate).low, abs=0.2 * error)
    assert drawn.mean() + 1.96 * error == pytest.approx(interval(estimate).high, abs=0.2 * error)
    assert ("cluster bootstrap", clusters, 2000) == (
        interval(estimate).method,
        interval(estimate).clusters,
        interval(estimate).resamples,
    )


@each_row("kinds", [2, 60])
def test_whole_clusters_are_drawn(kinds: int) -> None:
    """Units of a cluster that are equal add nothing: the interval is that of one unit a cluster."""
    right = np.random.default_rng(5).integers(0, kinds, size=200)
    values = [float(number) for number in range(kinds)]

    (alone,) = bootstrap(mean_of(values), right, np.arange(200))
    (fivefold,) = bootstrap(mean_of(values), np.repeat(right, 5), np.repeat(np.arange(200), 5))

    assert alone.value == pytest.approx(fivefold.value)
    assert interval(alone).low == pytest.approx(interval(fivefold).low)
    assert interval(alone).high == pytest.approx(interval(fivefold).high)


def test_many_different_clusters_are_drawn_as_few_equal_ones() -> None:
    """The three ways of counting a resample: equal clusters, different ones, and too many cells for a dense table."""
    generator = np.random.default_rng(6)
    values = generator.random(3000)
    clusters = np.repeat(np.arange(1500), 2)

    (estimate,) = bootstrap(mean_of(list(values)), np.arange(3000), clusters, resamples=600)

    error = float(np.std(values.reshape(-1, 2).mean(axis=1)) / np.sqrt(1500))
    assert 2 * 1.96 * error == pytest.approx(interval(estimate).high - interval(estimate).low, rel=0.1)


def test_few_clusters_have_no_interval_and_some_have_a_warning() -> None:
    def notes(clusters: int) -> Estimate:
        codes = np.arange(clusters)
        return bootstrap(mean_of([0.0, 1.0]), codes % 2, codes)[0]

    assert notes(FEWEST - 1).interval is None
    assert ("no interval: 9 clusters, fewer than 10",) == notes(FEWEST - 1).notes
    assert notes(FEWEST).interval is not None
    assert "only 10 clusters" in notes(FEWEST).notes[0]
    assert () == notes(FEW).notes


def test_without_resamples_there_is_no_bootstrap_interval_and_no_warning_of_one() -> None:
    (few,) = bootstrap(mean_of([0.0, 1.0]), np.arange(12) % 2, np.arange(12), resamples=0)

    assert (None, (NO_RESAMPLES,)) == (few.interval, few.notes)


def test_shares_of_units_in_few_clusters_follow_the_number_of_clusters() -> None:
    assert (None, ("no interval: 1 cluster, fewer than 10",)) == (wilson(5, 40, 1).interval, wilson(5, 40, 1).notes)
    dependent, independent = wilson(5, 40, 35), wilson(5, 40)
    assert (interval(independent).low, interval(independent).high) == (
        interval(dependent).low,
        interval(dependent).high,
    )
    assert ((DEPENDENT,), ()) == (dependent.notes, independent.notes)


def test_no_interval_has_width_zero() -> None:
    (estimate,) = bootstrap(mean_of([1.0]), np.zeros(50, dtype=np.int64), np.arange(50))

    assert 1.0 == estimate.value
    assert estimate.interval is None
    assert (WIDTH_ZERO,) == estimate.notes
    assert (WIDTH_ZERO,) == clustered_mean(np.ones(50), np.ones(50), np.arange(50)).mean.notes


def test_a_figure_that_most_resamples_lack_has_no_interval() -> None:
    codes = np.arange(40)

    (estimate,) = bootstrap(lambda counts: np.where(counts[:, 1] == 1, 0.5, np.nan), (codes == 0).astype(int), codes)

    assert 0.5 == estimate.value
    assert estimate.interval is None
    assert "undefined in" in estimate.notes[0]


def test_figures_on_other_units_count_their_own_clusters() -> None:
    codes = np.arange(40)
    few = codes < 5

    one, other = bootstrap(
        lambda counts: np.column_stack((mean_of([0.0, 1.0])(counts),) * 2),
        codes % 2,
        codes,
        bases=(np.ones(40, dtype=bool), few),
    )

    assert (40, 5) == (one.n, other.n)
    assert one.interval is not None
    assert other.interval is None


def test_a_clustered_mean_by_hand() -> None:
    """Ten clusters of two units: sums 0 2 0 2 …, mean 1/2, se = √(10·1²)/20 · √(10/9)."""
    values = np.repeat([0.0, 1.0] * 5, 2)

    found = clustered_mean(values, np.ones(20), np.repeat(np.arange(10), 2))

    assert 0.5 == found.mean.value
    assert found.standard_error == pytest.approx(np.sqrt(10) / 20 * np.sqrt(10 / 9))
    assert 0.5 - 2.262157 * np.sqrt(10) / 20 * np.sqrt(10 / 9) == pytest.approx(interval(found.mean).low, abs=1e-6)


def test_clusters_of_one_unit_give_the_t_test() -> None:
    from scipy.stats import ttest_1samp

    values = np.random.default_rng(8).normal(0.2, 1, size=60)

    found = clustered_mean(values, np.ones(60), np.arange(60))

    expected = ttest_1samp(values, 0)
    assert expected.pvalue == pytest.approx(found.p_value)
    assert expected.confidence_interval().low == pytest.approx(interval(found.mean).low)


def test_units_without_weight_do_not_count() -> None:
    values, clusters = np.arange(40.0), np.arange(40)
    weights = (clusters < 20).astype(float)

    assert clustered_mean(values[:20], np.ones(20), clusters[:20]) == clustered_mean(values, weights, clusters)
    assert "no unit counts" == clustered_mean(values, np.zeros(40), clusters).mean.reason


def test_a_proportion_of_single_units_has_wilsons_interval() -> None:
    from scipy.stats import binomtest

    right = np.arange(50) < 40

    estimate = proportion(right, np.ones(50, dtype=bool), np.arange(50))

    expected = binomtest(40, 50).proportion_ci(method="wilson")
    assert "wilson" == interval(estimate).method
    assert expected.low == pytest.approx(interval(estimate).low)
    assert expected.high == pytest.approx(interval(estimate).high)
    assert estimate == wilson(40, 50)


def test_a_proportion_of_clusters_has_the_clustered_interval() -> None:
    right = np.repeat(np.arange(25) < 15, 4)

    estimate = proportion(right, np.ones(100, dtype=bool), np.repeat(np.arange(25), 4))

    assert "clustered t" == interval(estimate).method
    assert 100 == estimate.n
    assert interval(estimate).high - interval(estimate).low > 2 * 1.96 * np.sqrt(0.6 * 0.4 / 25)


def test_where_all_units_agree_wilson_counts_clusters() -> None:
    from scipy.stats import binomtest

    estimate = proportion(np.ones(100), np.ones(100), np.repeat(np.arange(25), 4))

    expected = binomtest(25, 25).proportion_ci(method="wilson")
    assert (1.0, 100) == (estimate.value, estimate.n)
    assert expected.low == pytest.approx(interval(estimate).low)


def test_a_clustered_proportion_stays_between_zero_and_one() -> None:
    right = np.zeros(200)
    right[0] = 1

    estimate = proportion(right, np.ones(200), np.repeat(np.arange(20), 10))

    assert 0.0 == interval(estimate).low


def test_holm_agrees_with_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p_values = [0.04, 0.01, 0.03, 0.5, 0.005]

    assert multipletests(p_values, method="holm")[1] == pytest.approx(list(holm(p_values)))


def _table(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Differences, some of them between two limits, in clusters of one pair or of several."""
    draw = np.random.default_rng(seed)
    pairs = int(draw.integers(12, 60))
    clusters = np.arange(pairs) if seed % 2 else draw.integers(0, 15, size=pairs)
    shares = seed % 3 == 0
    largest = 1.0 if shares else 100.0
    spread = (0.0, 0.1, 1.0)[seed % 5 % 3]
    known = draw.choice([-1.0, 0.0, 1.0], size=pairs) * (draw.random(pairs) < spread)
    known = known if shares else known * draw.integers(0, 100, size=pairs)
    missing = draw.random(pairs) < (0.05, 0.3, 1.0)[seed % 7 % 3]
    low = np.where(missing, draw.choice([-largest, 0.0], size=pairs), known)
    high = np.where(missing, draw.choice([0.0, largest], size=pairs), known)
    return low, np.maximum(low, high), clusters.astype(np.int32), largest


@each_row("seed", range(8))
def test_no_value_leads_beyond_the_bounds(seed: int) -> None:
    low, high, clusters, largest = _table(seed)
    found = possible_change(low, high, clusters, largest=largest)
    if found is None:
        assert bounded_change(low, clusters, largest=largest).mean.interval is None
        return
    draw = np.random.default_rng(1000 + seed)
    beyond = []
    for way in range(60):
        at = (draw.random(len(low)) < draw.random()).astype(float) if way % 2 else draw.random(len(low))
        at = np.full(len(low), way / 2) if way < 3 else at
        one = bounded_change(low + at * (high - low), clusters, largest=largest)
        ends = one.mean.interval
        assert ends is not None
        beyond += [
            found.low - ends.low,
            ends.high - found.high,
            found.high_at_least - ends.high,
            ends.low - found.low_at_most,
            (one.p_value or 0.0) - found.p_value,
        ]

    assert max(beyond) <= 1e-9


def test_bounds_of_what_is_known_are_its_interval() -> None:
    known, clusters = np.array([3.0, -1.0, 0.0, 8.0] * 5), np.arange(20, dtype=np.int32)
    ends = bounded_change(known, clusters, largest=100.0)
    found = possible_change(known, known, clusters, largest=100.0)

    assert found is not None
    assert ends.mean.interval is not None
    assert (ends.mean.interval.low, ends.mean.interval.high, ends.p_value) == pytest.approx(
        (found.low, found.high, found.p_value)
    )


def test_bounds_are_no_wider_than_the_worst_values_where_few_are_missing() -> None:
    """Two of 400 pairs: a candidate that would have scored 0 in both."""
    draw = np.random.default_rng(7)
    low, high = (np.append(draw.integers(-5, 6, size=398), [end] * 2).astype(float) for end in (-90, 10))
    high[:398] = low[:398]
    clusters = np.arange(400, dtype=np.int32)
    found = possible_change(low, high, clusters, largest=100.0)
    worst = bounded_change(low, clusters, largest=100.0).mean.interval

    assert found is not None
    assert worst is not None
    assert pytest.approx(worst.low, abs=0.02) == found.low
