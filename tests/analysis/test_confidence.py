"""Confidence against correctness: hand-worked tables, scikit-learn, and reference figures."""

from typing import Any

import numpy as np
import pytest

from jury_analysis import OURS, ConfidenceCurve, Scale, bin_of, confidence, score_confidence, vote_matrix
from support.ballot_tables import ballots
from support.reference_data import needs_reference_data, reference, triviaqa

SAFE, REVIEW, UNSAFE = OURS.categories


def curves(votes: list[Any], labels: list[Any] | None, scale: Scale = OURS, **more: Any) -> list[ConfidenceCurve]:
    return list(confidence(vote_matrix(ballots(votes, labels=labels, **more), scale)).curves)


def stated(right: list[bool], values: list[float], **more: Any) -> ConfidenceCurve:
    """One seat that states these confidences."""
    votes = [(SAFE,) if one else (UNSAFE,) for one in right]
    return curves(votes, [SAFE] * len(right), confidences=[(one,) for one in values], **more)[1]


def random_confidences(n: int) -> tuple[list[bool], list[float]]:
    random = np.random.default_rng(11)
    values = random.random(n).round(2)
    return [bool(one) for one in random.random(n) < values], [float(one) for one in values]


def test_vote_share_keeps_missing_votes_in_the_denominator() -> None:
    curve = curves([(SAFE, SAFE, None), (SAFE, UNSAFE, None), (SAFE, SAFE, SAFE)], [SAFE, SAFE, UNSAFE])[0]

    assert ("vote share", "panel", None) == (curve.confidence, curve.rater, curve.seat)
    assert [(0.6, 0.7, 1, 1), (0.9, 1.0, 1, 0)] == [
        (one.low, one.high, one.n, one.right) for one in curve.bins if one.n
    ]
    assert {"no verdict": 1} == curve.left_out


def test_left_out_units_are_counted_once_each() -> None:
    votes = [(SAFE,), (None,), (REVIEW,), (UNSAFE,), (SAFE,)]
    scale = OURS.against([SAFE, UNSAFE])
    found = curves(
        votes, [None, SAFE, SAFE, UNSAFE, SAFE], scale, confidences=[(0.5,), (None,), (0.5,), (None,), (1.0,)]
    )

    assert {"no label": 1, "no verdict": 1, "the verdict is an abstention": 1} == found[0].left_out
    assert {**found[0].left_out, "no such confidence": 1} == found[1].left_out
    assert (2, 1) == (found[0].n, found[1].n)


def test_bins_are_closed_on_the_right_also_where_binary_fractions_are_not_exact() -> None:
    values = np.array([0.0, 0.05, 0.1, 0.1001, 0.3, 0.6, 0.7, 0.1 * 3, 7 / 10, 1.0])

    assert [0, 0, 0, 1, 2, 5, 6, 2, 6, 9] == list(bin_of(values))


def test_brier_and_auroc_agree_with_scikit_learn() -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score

    right, values = random_confidences(300)
    curve = stated(right, values)

    assert brier_score_loss(right, values) == pytest.approx(curve.brier.value)
    assert roc_auc_score(right, values) == pytest.approx(curve.auroc.value)


def test_wilson_intervals_of_the_bins_agree_with_scipy() -> None:
    from scipy.stats import binomtest

    curve = stated(*random_confidences(300))

    for one in curve.bins:
        oracle = binomtest(one.right, one.n).proportion_ci(method="wilson")
        assert one.rate.interval is not None
        assert (oracle.low, oracle.high) == pytest.approx((one.rate.interval.low, one.rate.interval.high))


def test_bins_of_few_clusters_have_no_interval_however_many_units_they_have() -> None:
    nine, twelve = (stated([True] * 60, [0.9] * 60, clusters=[f"c{n % k}" for n in range(60)]) for k in (9, 12))

    (of_nine,), (of_twelve,) = ([one.rate for one in found.bins if one.n] for found in (nine, twelve))
    assert (None, ("no interval: 9 clusters, fewer than 10",)) == (of_nine.interval, of_nine.notes)
    assert (of_twelve.interval is not None, 2) == (True, len(of_twelve.notes))


def test_the_error_of_auroc_is_the_sum_of_the_errors_of_both_placements() -> None:
    from scipy.stats import t

    random = np.random.default_rng(8)
    values = random.choice([0.2, 0.5, 0.9], 50)
    right = random.random(50) < values
    interval = stated([bool(one) for one in right], [float(one) for one in values]).auroc.interval
    wins = (values[right][:, None] > values[~right]) + (values[right][:, None] == values[~right]) / 2
    area = wins.mean()
    of_right, of_wrong = (np.square(wins.mean(axis=axis) - area).sum() for axis in (1, 0))
    error = np.sqrt((of_right / right.sum() ** 2 + of_wrong / (~right).sum() ** 2) * 50 / 49)

    assert interval is not None
    assert (area - t.ppf(0.975, 49) * error) == pytest.approx(interval.low)
    assert min(1.0, area + t.ppf(0.975, 49) * error) == pytest.approx(interval.high)


@pytest.mark.full
def test_the_interval_of_auroc_agrees_with_a_bootstrap_of_clusters() -> None:
    from sklearn.metrics import roc_auc_score

    right, values = random_confidences(300)
    clusters = [f"k{number // 5:02}" for number in range(300)]
    interval = stated(right, values, clusters=clusters).auroc.interval
    random, groups = np.random.default_rng(2), np.arange(300).reshape(60, 5)
    drawn = [groups[random.integers(0, 60, 60)].ravel() for _ in range(1000)]
    areas = [roc_auc_score(np.array(right)[rows], np.array(values)[rows]) for rows in drawn]

    assert interval is not None
    assert (*np.quantile(areas, (0.025, 0.975)),) == pytest.approx((interval.low, interval.high), abs=0.015)


def test_confidence_that_separates_perfectly_has_no_interval() -> None:
    auroc = stated([True, False] * 20, [0.9, 0.2] * 20).auroc

    assert (1.0, None) == (auroc.value, auroc.interval)
    assert auroc.notes


def test_a_score_is_confidence_in_the_verdict_at_its_end_of_the_order() -> None:
    verdicts = np.array([0, 2, 1, -1], dtype=np.int8)
    found = score_confidence(verdicts, np.array([80.0, 30.0, 50.0, 10.0]))

    assert [0.8, 0.7] == list(found[:2])
    assert [True, True] == list(np.isnan(found[2:]))


def test_scores_are_compared_for_seats_panel_and_jury() -> None:
    votes = [(SAFE, SAFE), (UNSAFE, UNSAFE), (REVIEW, REVIEW)]
    scores = [(80, 100), (40, 20), (50, 50)]
    found = curves(votes, [SAFE, SAFE, SAFE], scores=scores)

    assert [("vote share", "panel"), ("score", "seat"), ("score", "seat"), ("score", "panel")] == [
        (one.confidence, one.rater) for one in found
    ]
    assert (0.9 + 0.7) / 2 == pytest.approx(found[-1].mean_confidence.value)
    assert {"no such confidence": 1} == found[-1].left_out


def test_the_final_score_belongs_to_the_final_verdict() -> None:
    votes = [(SAFE, UNSAFE), (SAFE, UNSAFE)]
    found = curves(votes, [SAFE, UNSAFE], finals=[SAFE, UNSAFE], final_scores=[90, 20])[-1]

    assert ("score", "jury") == (found.confidence, found.rater)
    assert (1.0, 0.85) == (found.accuracy.value, pytest.approx(found.mean_confidence.value))


@needs_reference_data
def test_vote_share_of_nine_judges_agrees_with_the_reference() -> None:
    expected = reference("calibration_triviaqa_nine")
    table = triviaqa(reference("triviaqa_nine_llm_judges")["raters"])
    curve = confidence(vote_matrix(table, Scale(("incorrect", "correct"), ordered=True))).curves[0]

    assert expected["n"] == curve.n
    assert {"no verdict": expected["undecided"]} == curve.left_out
    assert expected["accuracy"] == pytest.approx(curve.accuracy.value, abs=1e-6)
    assert expected["mean_confidence"] == pytest.approx(curve.mean_confidence.value, abs=1e-6)
    assert expected["ece10_equal_width_right_closed"] == pytest.approx(curve.ece.value, abs=1e-6)
    assert expected["brier"] == pytest.approx(curve.brier.value, abs=1e-6)
    assert expected["auroc"] == pytest.approx(curve.auroc.value, abs=1e-6)


@needs_reference_data
def test_the_reliability_curve_of_nine_judges_agrees_with_the_reference() -> None:
    expected = reference("calibration_triviaqa_nine")["reliability"]
    table = triviaqa(reference("triviaqa_nine_llm_judges")["raters"])
    curve = confidence(vote_matrix(table, Scale(("incorrect", "correct"), ordered=True))).curves[0]
    found = [one for one in curve.bins if one.n]

    assert len(expected) == len(found)
    for (level, row), one in zip(expected.items(), found, strict=True):
        assert (row["n"], row["right"]) == (one.n, one.right)
        assert float(level) == pytest.approx(one.mean_confidence, abs=1e-6)
        assert row["rate"] == pytest.approx(one.rate.value, abs=1e-6)
        assert one.rate.interval is not None
        assert row["wilson95"] == pytest.approx([one.rate.interval.low, one.rate.interval.high], abs=1e-6)
