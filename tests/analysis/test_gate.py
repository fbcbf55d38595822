"""Gates: decisions by hand, their directions, gates without a difference, and reference figures."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    Gate,
    GateOptions,
    PairedOptions,
    PairedVariation,
    Scale,
    UnknownMetric,
    assumed_plan,
    bounded_change,
    gate,
    measured_plan,
    paired,
    repeats_apart,
)
from support.ballot_tables import one_seat, with_column
from support.each_row import each_row
from support.reference_data import needs_reference_data, reference, triviaqa
from support.tiers import others_full

S, R, U = OURS.categories
ANSWERS = Scale(("incorrect", "correct"), ordered=False)


def of_panel(table: pa.Table, name: str) -> pa.Table:
    return with_column(table, "panel", [name] * table.num_rows)


def labelled(right_before: int, right_after: int, neither: int, both: int, **options: Any) -> Gate:
    """Cases that all fail: the base is right in some, the candidate in others, both or neither in the rest."""
    before = [U] * right_before + [S] * right_after + [S] * neither + [U] * both
    after = [S] * right_before + [U] * right_after + [S] * neither + [U] * both
    labels = [U] * len(before)
    return gate(one_seat(before, labels=labels), one_seat(after, labels=labels), None, GateOptions(**options)).gate


def test_harm_within_the_margin_passes() -> None:
    found = labelled(12, 12, 0, 976)

    assert ("pass", "false_pass", "more", 0.02) == (found.decision, found.metric, found.worse, found.margin)
    interval = found.harm.interval
    assert interval is not None
    # se = √(24/1000 · 1000/999 / 1000) = 0.0049011…, t(999) = 1.96234
    assert (-0.009618, 0.009618) == (pytest.approx(interval.low, abs=1e-6), pytest.approx(interval.high, abs=1e-6))


def test_harm_above_zero_and_beyond_the_margin_fails() -> None:
    found = labelled(60, 5, 35, 900)

    assert ("fail", 0.055) == (found.decision, pytest.approx(found.harm.value))
    assert (0.04, 0.095, 65) == (pytest.approx(found.base), pytest.approx(found.candidate), found.changed)


def test_harm_above_zero_but_within_the_margin_passes() -> None:
    found = labelled(12, 0, 0, 988)

    assert found.harm.interval is not None
    assert found.harm.interval.low > 0
    assert "pass" == found.decision


def test_too_few_cases_are_inconclusive_and_say_how_many_it_takes() -> None:
    found = labelled(10, 6, 4, 80)

    assert "inconclusive" == found.decision
    # The observed harm of 0.04 lies 0.04 above zero and 0.02 above the margin: it takes as many as find 0.04.
    assert PairedVariation(0.16).cases(0.04) == found.cases_needed
    assert PairedVariation(0.16).smallest(100) == pytest.approx(found.smallest_change)


def test_equal_verdicts_pass_only_if_the_cases_are_enough_to_exclude_the_margin() -> None:
    many, few = labelled(0, 0, 0, 1000), labelled(0, 0, 0, 100)

    # Wilson: no flip in K clusters is at most z²/(K + z²) flips: 3.8415/1003.8415.
    assert many.harm.interval is not None
    assert 0.003827 == pytest.approx(many.harm.interval.high, abs=1e-6)
    assert ("pass", "inconclusive") == (many.decision, few.decision)
    assert few.cases_needed is not None
    assert "pass" == labelled(0, 0, 0, few.cases_needed + 10).decision


def test_few_clusters_that_change_widen_the_interval() -> None:
    few = bounded_change([1.0] + [0.0] * 199, np.arange(200)).mean.interval

    assert few is not None
    assert "clustered t and wilson" == few.method
    assert few.high == pytest.approx(0.0278, abs=1e-3)  # as the exact limit of 1 in 200


def test_the_fewest_clusters_are_those_of_the_pairs_that_count() -> None:
    labels = [U] * 6 + [S] * 240
    first, second = one_seat([U] * 6 + [S] * 240, labels=labels), one_seat([S] * 246, labels=labels)

    found = gate(first, second).gate

    assert ("false_pass", 6, 6, None) == (found.metric, found.harm.n, found.clusters, found.harm.interval)
    assert (None, 10) == (found.smallest_change, found.cases_needed)


@each_row(
    ("metric", "worse", "harm"),
    [
        ("accuracy", "less", 0.04),
        ("false_pass", "more", 0.04),
        (S, "less", -0.04),
        (R, "more", 0.0),
        (U, "more", -0.04),
    ],
)
def test_every_metric_has_its_direction(metric: str, worse: str, harm: float) -> None:
    before, after = [U] * 10 + [S] * 6 + [S] * 84, [S] * 10 + [U] * 6 + [S] * 84
    first, second = (of_panel(one_seat(one, labels=[U] * 100), "p") for one in (before, after))
    found = gate(first, second, None, GateOptions(metric=metric)).gate

    assert (worse, pytest.approx(harm)) == (found.worse, found.harm.value)


def test_a_false_fail_is_a_fail_of_what_is_labelled_as_passing() -> None:
    first, second = ([S] * 50 + [U] * 50), ([S] * 20 + [U] * 30 + [U] * 50)
    labels = [S] * 50 + [U] * 50
    options = GateOptions(metric="false_fail")
    found = gate(one_seat(first, labels=labels), one_seat(second, labels=labels), None, options).gate

    assert ("fail", pytest.approx(0.6), 50) == (found.decision, found.harm.value, found.harm.n)


def test_scores_have_points() -> None:
    scores = [[80.0 + number % 7] for number in range(200)]
    lower = [[score - 5.0 + number % 3] for number, (score,) in enumerate(scores)]
    first, second = (of_panel(one_seat([S] * 200, scores=one), "p") for one in (scores, lower))
    found = gate(first, second, None, GateOptions(metric="score")).gate

    assert ("fail", "less", 2.0) == (found.decision, found.worse, found.margin)
    assert 4.0 == pytest.approx(found.harm.value, abs=0.02)


def scored(changes: list[float], **options: Any) -> Gate:
    """Cases with a score of 80 in the base, which change by so many points."""
    first = one_seat([S] * len(changes), scores=[[80.0] for _ in changes])
    second = one_seat([S] * len(changes), scores=[[80.0 + change] for change in changes])
    return gate(first, second, None, GateOptions(metric="score", **options)).gate


def test_equal_scores_pass_only_if_the_cases_are_enough_to_exclude_the_margin() -> None:
    few, many = scored([0.0] * 188), scored([0.0] * 189)

    # Wilson: no change in K clusters is at most z²/(K + z²) changes, each of at most 100 points: 384.15/191.8415.
    assert few.harm.interval is not None
    assert (-2.002413, 2.002413) == pytest.approx((few.harm.interval.low, few.harm.interval.high), abs=1e-5)
    assert ("inconclusive", 189, None) == (few.decision, few.cases_needed, few.smallest_change)
    assert ("pass", None) == (many.decision, many.smallest_change)
    assert "no cluster changes: the interval is from Wilson's limit of the clusters that may differ" in few.harm.notes


def test_a_score_that_changes_does_not_make_a_gate_surer() -> None:
    none, one = scored([0.0] * 60).harm.interval, scored([-1.0] + [0.0] * 59).harm.interval

    assert none is not None
    assert one is not None
    assert "clustered t and wilson" == one.method
    assert one.low < none.low


@each_row("change", [-5.0, -0.1])
def test_scores_that_all_change_alike_have_an_interval(change: float) -> None:
    few, many = scored([change] * 60, margin=1.0), scored([change] * 1000, margin=1.0)

    assert ("inconclusive", None) == (few.decision, few.smallest_change)
    assert ("fail" if change < -1 else "pass") == many.decision
    for found in (few, many):
        assert found.harm.interval is not None
        assert found.harm.interval.low < change < found.harm.interval.high
        assert found.harm.interval.clusters == found.pairs


def test_clusters_that_change_alike_in_part_have_an_interval_around_their_change() -> None:
    interval = bounded_change([1.0, 0.0] * 40, np.repeat(np.arange(40), 2)).mean.interval

    # w = 3.841459/43.841459 = 0.087622: 0.5·(1 - w) ± w.
    assert interval is not None
    assert (0.368567, 0.543811) == pytest.approx((interval.low, interval.high), abs=1e-5)


def test_without_labels_the_metric_is_the_share_of_the_last_verdict() -> None:
    first, second = one_seat([S] * 200), one_seat([S] * 170 + [U] * 30)

    assert (U, "more") == (
        (found := gate(of_panel(first, "p"), of_panel(second, "p")).gate).metric,
        found.worse,
    )


def test_without_labels_either_direction_counts_between_two_panels() -> None:
    stricter, lenient = one_seat([U] * 60 + [S] * 140), one_seat([U] * 30 + [S] * 170)

    for one, other in ((stricter, lenient), (lenient, stricter)):
        found = gate(of_panel(one, "p"), of_panel(other, "q")).gate
        assert ("fail", "either") == (found.decision, found.worse)
    assert "pass" == gate(stricter, lenient, None, GateOptions(worse="more")).gate.decision
    assert "fail" == gate(stricter, lenient, None, GateOptions(worse="less")).gate.decision


@each_row("sign", [1, -1])
def test_an_undecided_change_takes_the_same_cases_in_either_direction(sign: int) -> None:
    before, after = [U] * 10 + [S] * 90, [S] * 10 + [U] * 14 + [S] * 76
    first, second = (one_seat(one) for one in ((before, after)[::sign]))
    found = gate(first, second, None, GateOptions(margin=0.05)).gate

    assert ("inconclusive", PairedVariation(0.24).cases(0.04)) == (found.decision, found.cases_needed)


@each_row(
    ("options", "message"),
    [
        (GateOptions(metric="accuracy"), "needs labels"),
        (
            GateOptions(metric="unsafe"),
            "no metric 'unsafe'; the metrics are false_pass, false_fail, accuracy, score, safe",
        ),
        (GateOptions(paired=PairedOptions(scale=Scale((S, U, R), ordered=False))), "--metric safe_pass"),
    ],
)
def test_metrics_that_cannot_be_had_are_refused(options: GateOptions, message: str) -> None:
    with pytest.raises(UnknownMetric, match=message):
        gate(one_seat([S] * 20), one_seat([S] * 20), None, options)


def test_flips_stand_beside_flips_between_repeats() -> None:
    first = one_seat([S, S, U, U] * 10, cases=[f"c{number // 2}" for number in range(40)])
    first = with_column(first, "repeat", [1, 2] * 20)
    changed = one_seat([S, U, U, S] * 10, cases=[f"c{number // 2}" for number in range(40)])
    changed = with_column(changed, "repeat", [1, 2] * 20)

    steady, noisy = gate(first, changed).gate, gate(changed, first).gate

    assert (0.5, 0.0) == (steady.flips.value, steady.flips_between_repeats.value)
    assert (0.5, 1.0) == (noisy.flips.value, noisy.flips_between_repeats.value)
    assert gate(one_seat([S] * 20), one_seat([S] * 20)).gate.flips_between_repeats.value is None


def test_pairs_of_a_cluster_that_resemble_each_other_take_more_cases() -> None:
    before, after = [U] * 10 + [S] * 10 + [U] * 80, [S] * 10 + [U] * 6 + [S] * 4 + [U] * 80
    names = [f"k{number}" for number in range(100)]
    once, twice = (
        gate(
            one_seat(before * times, labels=[U] * 100 * times, clusters=names * times),
            one_seat(after * times, labels=[U] * 100 * times, clusters=names * times),
        ).gate
        for times in (1, 2)
    )

    assert [1.0, 2.0] == pytest.approx([once.design_effect, twice.design_effect], abs=0.02)
    assert once.cases_needed is not None
    assert 2 * once.cases_needed == pytest.approx(twice.cases_needed, rel=0.02)


def test_clusters_without_a_change_take_as_many_clusters_as_exclude_the_margin() -> None:
    def equal(pairs: int) -> Gate:
        names = [f"k{number // 9}" for number in range(pairs)]
        table = one_seat([U] * pairs, labels=[U] * pairs, clusters=names)
        return gate(table, table).gate

    few = equal(900)

    assert "inconclusive" == few.decision
    assert few.cases_needed is not None
    # 100 clusters have the limit 0.036995: at a margin of 0.02 it takes 0.036995/0.02 times as many.
    assert 1665 == few.cases_needed
    assert "pass" == equal(few.cases_needed + 90).decision


def test_repeats_of_pluralities_are_compared_by_their_pluralities() -> None:
    cases = [f"c{number // 2}" for number in range(40)]
    base = with_column(one_seat([S] * 40, cases=cases, finals=[S, U] * 20), "repeat", [1, 2] * 20)

    def between(verdicts: Any) -> float | None:
        options = GateOptions(paired=PairedOptions(verdicts=verdicts))
        return gate(base, base, None, options).gate.flips_between_repeats.value

    assert (1.0, 0.0) == (between("final"), between("plurality"))


def simulated_gates(number: int, seed: int, **options: Any) -> tuple[int, int]:
    """Gates without a true difference, over 60 clusters of 1 to 5 cases with a difficulty of their own.

    Returns how many intervals exclude zero, and how many gates fail.
    """
    generator = np.random.default_rng(seed)
    excluding = failing = 0
    for _ in range(number):
        sizes = generator.integers(1, 6, size=60)
        clusters = np.repeat(np.arange(60), sizes)
        rates = generator.beta(1.0, 2.0, size=60)[clusters]
        runs = [np.where(generator.random(len(clusters)) < rates, S, U).tolist() for _ in range(2)]
        names = [f"k{cluster}" for cluster in clusters]
        first, second = (one_seat(run, clusters=names, labels=[U] * len(names)) for run in runs)
        found = gate(first, second, None, GateOptions(**options)).gate
        interval = found.harm.interval
        assert interval is not None
        excluding += not interval.low <= 0 <= interval.high
        failing += found.decision == "fail"
    return excluding, failing


@pytest.mark.full
def test_gates_without_a_difference_seldom_exclude_zero() -> None:
    excluding, failing = simulated_gates(60, seed=3)

    assert excluding <= 7  # of 60 at 5 %: more has a chance of 1.2 %
    assert failing <= excluding


@pytest.mark.long
def test_a_thousand_gates_without_a_difference_exclude_zero_in_at_most_six_per_cent() -> None:
    excluding, _ = simulated_gates(1000, seed=11)

    assert excluding <= 60


def test_a_plan_has_the_figures_of_the_formula() -> None:
    plan = assumed_plan(312, GateOptions(metric="accuracy", margin=0.05))

    assert (0.05, 312, False) == (pytest.approx(plan.smallest_change, abs=1e-4), plan.cases_for_margin, plan.measured)
    scores = assumed_plan(785, GateOptions(metric="score"))
    assert (2.0, 785) == (pytest.approx(scores.smallest_change, abs=1e-3), scores.cases_for_margin)


def test_a_plan_counts_only_the_cases_that_the_metric_is_about() -> None:
    labels = [S] * 75 + [U] * 25
    base = one_seat([S] * 100, labels=labels)
    plan = assumed_plan(1248, GateOptions(margin=0.05), pilot=paired(base, base))

    assert (0.25, "false_pass") == (plan.counted_share, plan.metric)
    assert 0.05 == pytest.approx(plan.smallest_change, abs=1e-4)
    assert 1248 == plan.cases_for_margin


def test_fewer_cases_than_have_an_interval_could_find_nothing() -> None:
    options = GateOptions(metric="accuracy", margin=1.0)
    labels = [U] * 90
    judged = one_seat([U] * 90, labels=labels, clusters=[f"k{number // 9}" for number in range(90)])

    few, enough = (assumed_plan(cases, options, discordance=0.5) for cases in (9, 10))
    clustered = assumed_plan(89, options, cluster_size=9)
    known = assumed_plan(89, options, pilot=paired(judged, judged))
    measured = measured_plan(89, options, paired(judged, judged))

    assert (None, 10) == (few.smallest_change, few.cases_for_margin)
    assert enough.smallest_change is not None
    for plan in (clustered, known, measured):
        assert (None, 90) == (plan.smallest_change, plan.cases_for_margin)


def test_a_plan_is_measured_between_repeats() -> None:
    cases = [f"c{number // 2}" for number in range(80)]
    base = with_column(one_seat([S, S, S, U, U, U, U, S] * 10, cases=cases), "repeat", [1, 2] * 40)
    apart = repeats_apart(base)

    assert apart is not None
    plan = measured_plan(1000, GateOptions(), paired(*apart))
    assert (0.5, True, U) == (plan.mean_square, plan.measured, plan.metric)
    assert repeats_apart(one_seat([S] * 3)) is None


@needs_reference_data
@each_row(
    ("name", "margin", "decision"),
    [("gate_far", 0.02, "fail"), ("gate_near", 0.02, "pass"), ("gate_near", 0.005, "inconclusive")],
)
def test_reference_decisions(name: str, margin: float, decision: str) -> None:
    expected = reference(name)
    options = GateOptions(metric="accuracy", margin=margin, paired=PairedOptions(scale=ANSWERS))
    found = gate(triviaqa(expected["base"]), triviaqa(expected["candidate"]), None, options).gate

    assert decision == found.decision
    interval = found.change.interval
    assert interval is not None
    figures = [found.change.value, interval.low, interval.high]
    assert [expected["accuracy_change"], *expected["ci95_clustered_t"]] == pytest.approx(figures, abs=1e-6)


def jury_of(scores: list[int | None], verdicts: list[Any] | None = None, **more: Any) -> pa.Table:
    """A jury of one seat with these final scores; None: the seat gives no evaluation, and the case needs review."""
    given = verdicts or [S] * len(scores)
    votes = [None if score is None else verdict for score, verdict in zip(scores, given, strict=True)]
    return one_seat(votes, finals=[vote or R for vote in votes], final_scores=scores, **more)


def without(number: int, size: int = 400, score: int = 90) -> list[int | None]:
    """Scores of which the first are missing, and the others vary a little."""
    return [None] * number + [score + place % 3 for place in range(size - number)]


@each_row(
    ("base", "candidate", "metric", "margin", "decision"),
    [
        (without(0), without(200), "score", 2.0, "inconclusive"),
        (without(0), without(2), "score", 2.0, "pass"),
        (without(0), without(2, score=70), "score", 2.0, "fail"),
        (without(200), without(0, score=60), "score", 2.0, "inconclusive"),
        (without(4), without(0, score=60), "score", 2.0, "fail"),
        (without(0), without(0, score=89), "score", 2.0, "pass"),
        (without(0), without(400), "score", 2.0, "inconclusive"),
        (without(0), without(200), "accuracy", 0.02, "inconclusive"),
        (without(200), without(0), "accuracy", 0.02, "inconclusive"),
        (without(0), without(3), "accuracy", 0.05, "pass"),
        (without(0), without(200), "false_fail", 0.02, "inconclusive"),
        (without(0), without(200), S, 0.02, "inconclusive"),
        (without(0), without(3), S, 0.05, "pass"),
    ],
)
def test_a_gate_is_decided_only_for_every_value_of_missing_evaluations(
    base: list[int | None], candidate: list[int | None], metric: str, margin: float, decision: str
) -> None:
    options = GateOptions(metric=metric, margin=margin, worse="less" if metric in {"score", S} else None)
    labels = [S] * len(base)
    found = gate(jury_of(base, labels=labels), jury_of(candidate, labels=labels), None, options).gate
    missing = sum(None in pair for pair in zip(base, candidate, strict=True))

    assert (decision, missing) == (found.decision, found.without_evaluation)
    assert (missing > 0) == (found.possible is not None)


def test_missing_evaluations_are_counted_apart_from_what_changes() -> None:
    """A provider refused every second case: no score falls, and no verdict flips."""
    whole = without(0, 40)
    report = gate(jury_of(whole), jury_of([one if place % 2 else None for place, one in enumerate(whole)])).paired

    assert (20, 0.0, 20, 20) == (
        report.score.change.n,
        report.score.change.value,
        report.without_verdict,
        report.without_evaluation,
    )
    assert (20, 0.0, 20, ()) == (report.unchanged, report.flipped.value, report.flipped.n, report.flips)
    assert (1.0, 0.5, 1.0) == (report.shares[0].first, report.shares[0].second, report.shares[0].p_value)
    assert (0.0, 0.0) == (report.shares[1].first, report.shares[1].second)


def test_mcnemar_is_that_of_the_most_balanced_values_of_missing_evaluations() -> None:
    labels, base = [S] * 20, [S] * 20
    candidate = [U] * 8 + [None] * 4 + [S] * 8
    found = paired(one_seat(base, labels=labels), one_seat(candidate, labels=labels)).against_labels
    certain = paired(one_seat(base, labels=labels), one_seat([U] * 8 + [S] * 12, labels=labels)).against_labels

    assert found is not None
    assert certain is not None
    assert certain.mcnemar_p == found.mcnemar_p
    assert (12, 0.4) == (found.right_to_wrong, found.accuracy.second)


@pytest.mark.parametrize("seed", others_full(3, *(seed for seed in range(12) if seed != 3)))
def test_no_value_of_a_missing_evaluation_leads_to_another_decision(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size, worse = 30, ("less", "either", None)[seed % 3]
    base = [int(one) for one in draw.integers(60, 70, size=size)]
    other = [int(one) for one in draw.integers(60, 70, size=size) - (0, 30)[seed % 2]]
    gone = draw.choice(size, size=int(draw.integers(1, 4)), replace=False).tolist()
    clusters = [f"g{place // (1 + seed % 2)}" for place in range(size)]
    sides = [base, [None if place in gone else score for place, score in enumerate(other)]][:: (1, -1)[seed // 6]]
    options = GateOptions(metric="score", margin=(6.0, 12.0)[seed % 4 // 2], worse=worse, resamples=0)
    known = [jury_of(one, clusters=clusters) for one in sides]
    found = gate(*known, None, options).gate
    reached = set()
    for _ in range(5):
        at = dict(zip(gone, draw.choice([0, 100, int(draw.integers(101))], size=len(gone)).tolist(), strict=True))
        filled = [[at[place] if one is None else one for place, one in enumerate(side)] for side in sides]
        reached.add(gate(*(jury_of(one, clusters=clusters) for one in filled), None, options).gate.decision)

    assert found.decision == "inconclusive" or {found.decision} == reached
