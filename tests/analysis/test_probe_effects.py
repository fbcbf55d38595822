"""What probes show: hand-worked pairs, exact tests, simulated fair jurors, and reference figures of swapped orders."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    PairedOptions,
    ProbeBallots,
    ProbedRater,
    ProbeEffect,
    Scale,
    probe_effects,
    sign_test,
    tolerance_test,
    upper_bound,
)
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import ballots_of, needs_reference_data, reference, reference_rows

S, R, U = OURS.categories


def a_probe(cases: list[Any], twins: list[Any], **more: Any) -> ProbeBallots:
    return ProbeBallots(
        more.pop("probe", "length"),
        ballots(cases, **more.pop("of_cases", {})),
        ballots(twins, **more.pop("of_twins", {})),
        more.pop("texts", {}),
        **more,
    )


def effect(probe: ProbeBallots, **options: Any) -> ProbeEffect:
    (found,) = probe_effects([probe], **options).probes
    return found


def test_flips_are_counted_for_the_jury_and_for_each_seat() -> None:
    found = effect(a_probe([(U, S), (U, S), (R, S)], [(S, S), (U, U), (U, None)]))

    one, two = found.seats
    assert (3, 2, 1, 1) == (one.pairs, round(3 * (one.flips.value or 0)), one.towards_first, one.towards_last)
    assert (2, 0, 1) == (two.pairs, two.towards_first, two.towards_last)
    assert [(R, U, 1), (U, S, 1)] == [(flip.before, flip.after, flip.pairs) for flip in one.by_direction]
    assert (3, "jury") == (found.pairs, found.jury.rater)


def test_flips_in_one_direction_are_found_and_named() -> None:
    from scipy.stats import binomtest

    found = effect(a_probe([(U,)] * 12, [(S,)] * 12))

    expected = binomtest(12, 12).pvalue
    assert expected == pytest.approx(found.jury.p_value)
    assert 2 * expected == pytest.approx(found.jury.p_holm)
    assert (
        "the jury is more lenient on the twins: 12 flips to an earlier verdict, 0 to a later one",
        "seat a is more lenient on the twins: 12 flips to an earlier verdict, 0 to a later one",
    ) == found.found


def test_a_shift_of_scores_is_found_without_a_flip() -> None:
    random = np.random.default_rng(1)
    before = [[float(score)] for score in random.integers(40, 60, 40)]
    after = [[score + 5 + float(noise)] for (score,), noise in zip(before, random.normal(0, 3, 40), strict=True)]
    found = effect(a_probe([(R,)] * 40, [(R,)] * 40, of_cases={"scores": before}, of_twins={"scores": after}))

    assert 5 == pytest.approx(found.seats[0].score_shift.value, abs=1.5)
    assert any(line.startswith("seat a scores the twins +") for line in found.found)


def test_a_juror_may_be_stricter_to_an_injection_but_not_more_lenient() -> None:
    stricter = effect(a_probe([(S,)] * 20, [(U,)] * 20, only_lenient=True))
    lenient = effect(a_probe([(U,)] * 20, [(S,)] * 20, only_lenient=True))

    assert (1.0, ()) == (stricter.jury.p_value, stricter.found)
    assert lenient.found


def test_a_seat_that_takes_the_position_of_the_first_speaker_is_found() -> None:
    """Seats a and c differ; a speaks first over the cases, c over the twins. b follows, d does not."""
    first = [(S, U, U, U)] * 10
    cases = [first, [(S, S, U, U)] * 10]
    twins = [first, [(S, U, U, U)] * 10]
    found = effect(a_probe(cases, twins, probe="speakers", first_speakers=("a", "c")))

    by_seat = {one.seat: one for one in found.seats}
    assert (10, 0) == (by_seat["b"].towards_first, by_seat["b"].towards_last)
    assert (0, 0, None) == (by_seat["d"].towards_first, by_seat["d"].towards_last, by_seat["d"].p_value)
    assert ("seat b takes the position of the first speaker: 10 flips towards it, 0 away",) == found.found


def test_passes_of_content_free_answers_are_counted_by_text_with_their_bound() -> None:
    texts = {f"c{index:06}": "colon" if index < 5 else "dots" for index in range(30)}
    twins: list[Any] = [(S,)] * 5 + [(U,)] * 25
    found = effect(a_probe([(S,)] * 30, twins, probe="master-key", texts=texts, content_free=True))

    every, colon, dots = found.jury.false_passes
    assert [(None, 30, 5), ("colon", 5, 5), ("dots", 25, 0)] == [
        (one.text, one.answers, one.passes) for one in (every, colon, dots)
    ]
    assert 1 - 0.05 ** (1 / 25) == pytest.approx(dots.upper_bound)
    assert 1.0 == colon.upper_bound
    assert found.jury.p_value is None
    assert "the jury passes 5 of 5 answers that are only 'colon'; tolerated are 5%" in found.found


def test_a_few_passes_are_tolerated() -> None:
    probe = a_probe([(S,)] * 40, [(S,)] * 2 + [(U,)] * 38, probe="master-key", content_free=True)

    assert () == effect(probe).found
    assert effect(probe, tolerated=0.0).found


def test_all_tests_are_one_family() -> None:
    one = a_probe([(U,)] * 7, [(S,)] * 7)
    alone, many = probe_effects([one]), probe_effects([one] * 4)

    assert (2, 8) == (alone.tests, many.tests)
    assert alone.probes[0].found
    assert not many.probes[0].found


def test_pairs_of_one_cluster_count_once() -> None:
    from scipy.stats import binomtest

    clusters = {"clusters": [f"k{index // 4}" for index in range(20)]}
    found = effect(a_probe([(U,)] * 20, [(S,)] * 20, of_cases=clusters, of_twins=clusters))

    assert (20, 5) == (found.pairs, found.clusters)
    assert binomtest(5, 5).pvalue == pytest.approx(found.jury.p_value)


def test_the_exact_tests_are_those_of_scipy() -> None:
    from scipy.stats import binomtest

    clusters = np.arange(30, dtype=np.int32)
    steps = np.array([-1] * 9 + [1] * 3 + [0] * 18)
    passed = np.array([True] * 4 + [False] * 26)
    everything = np.ones(30, dtype=np.bool_)

    assert binomtest(9, 12).pvalue == pytest.approx(sign_test(steps, clusters))
    assert binomtest(9, 12, alternative="greater").pvalue == pytest.approx(sign_test(steps, clusters, one_sided=True))
    high = binomtest(4, 30, alternative="less").proportion_ci(0.95, method="exact").high
    assert high == pytest.approx(upper_bound(passed, everything, clusters))
    assert binomtest(4, 30, 0.05, alternative="greater").pvalue == pytest.approx(
        tolerance_test(passed, everything, clusters, 0.05)
    )
    assert sign_test(np.zeros(30, dtype=np.int64), clusters) is None


def test_the_bound_of_false_passes_is_not_below_their_rate_however_large_a_cluster_is() -> None:
    clusters = {"clusters": ["big"] * 60 + [f"k{index}" for index in range(20)]}
    twins: list[Any] = [(S,)] * 60 + [(U,)] * 20
    passes = effect(
        a_probe([(U,)] * 80, twins, content_free=True, of_cases=clusters, of_twins=clusters)
    ).jury.false_passes[0]

    assert (60, 80, 0.75) == (passes.passes, passes.answers, passes.rate.value)
    assert 1.0 == pytest.approx(passes.upper_bound)
    assert 0.05 < (passes.p_value or 0)  # all passes are of one cluster


def test_the_bound_is_not_below_the_rate_of_any_clusters() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        clusters = np.repeat(np.arange(12), random.geometric(0.1, 12)).astype(np.int32)
        passed = (random.random(12) < 0.5)[clusters]
        bound = upper_bound(passed, np.ones(len(clusters), dtype=np.bool_), clusters)
        assert bound is not None
        assert passed.mean() <= bound


@each_row("passing", [0, 1])
def test_the_test_of_tolerance_counts_all_units_of_a_cluster(passing: int) -> None:
    """Half of the units pass in each of 20 pairs: 20 clusters are worth 20 units, of which 10 pass."""

    from scipy.stats import binomtest

    clusters = np.repeat(np.arange(20), 2).astype(np.int32)
    passed = np.tile([passing == 0, passing == 1], 20)
    p_value = tolerance_test(passed, np.ones(40, dtype=np.bool_), clusters, 0.05)

    assert binomtest(10, 20, 0.05, alternative="greater").pvalue == pytest.approx(p_value)
    assert 1.0 == tolerance_test(passed, np.ones(40, dtype=np.bool_), clusters, 0.5)


def test_any_pass_refutes_that_none_is_tolerated() -> None:
    clusters = np.repeat(np.arange(20), 2).astype(np.int32)
    passed = np.arange(40) == 0

    assert 0.0 == tolerance_test(passed, np.ones(40, dtype=np.bool_), clusters, 0.0)
    assert 1.0 == tolerance_test(~passed & passed, np.ones(40, dtype=np.bool_), clusters, 0.0)


def noisy(random: np.random.Generator, truth: np.ndarray[Any, Any], noise: float) -> list[tuple[str, ...]]:
    wrong = random.random(truth.shape) < noise
    return [tuple(U if one else S for one in row) for row in truth ^ wrong]


@pytest.mark.full
@pytest.mark.parametrize(
    ("noise", "samples", "most"),
    [(0.2, 20, 4), *(pytest.param(noise, 100, 10, marks=pytest.mark.long) for noise in (0.05, 0.2))],
)
def test_fair_jurors_are_found_in_about_5_of_100_samples_at_most(noise: float, samples: int, most: int) -> None:
    """With noise in every verdict 5 % are expected at most; more than `most` have a chance below 2 %."""
    random = np.random.default_rng(11)
    alarms = 0
    for _ in range(samples):
        truth = np.repeat(random.random((40, 1)) < 0.5, 3, axis=1)
        report = probe_effects(
            [a_probe(noisy(random, truth, noise), noisy(random, truth, noise), probe=str(n)) for n in range(4)]
        )
        alarms += any(probe.found for probe in report.probes)

    assert alarms <= most


@needs_reference_data
def test_swapped_orders_have_the_figures_that_were_computed_elsewhere() -> None:
    """The verdict of a swapped pair is for the same answer as before: a reversal goes to the position, not to it."""
    expected = reference("order_judgebench")
    rows = reference_rows("b10_judgebench_order")
    by_variant = {
        variant: {row["case_id"]: row["verdict"] for row in rows if row["variant"] == variant and row["verdict"]}
        for variant in ("base", "swapped")
    }
    cases = sorted(set(by_variant["base"]) & set(by_variant["swapped"]))

    def table(variant: str) -> pa.Table:
        return ballots_of([{"judge": by_variant[variant][case]} for case in cases])

    scale = Scale(("B>A", "A=B", "A>B"), ordered=True)
    found = effect(ProbeBallots("order", table("base"), table("swapped"), {}), options=PairedOptions(scale=scale))

    jury: ProbedRater = found.jury
    assert (expected["both"], expected["changed"]) == (jury.pairs, round((jury.flips.value or 0) * jury.pairs))
    assert expected["flip_rate"] == pytest.approx(jury.flips.value, abs=1e-6)
    assert jury.flips.interval is not None
    assert expected["wilson95"] == pytest.approx([jury.flips.interval.low, jury.flips.interval.high], abs=1e-6)
    ends = {(flip.before, flip.after): flip.pairs for flip in jury.by_direction}
    first, second = ends["A>B", "B>A"], ends["B>A", "A>B"]
    assert (expected["strict_flips_to_first_shown"], expected["strict_flips_to_second_shown"]) == (first, second)
    strict = np.array([-1] * first + [1] * second)
    assert expected["direction_p"] == pytest.approx(sign_test(strict, np.arange(44, dtype=np.int32)), abs=1e-6)
