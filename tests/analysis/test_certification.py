"""Certified thresholds: hand-worked bounds, scipy, a simulation of the promise, and reference figures."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from jury_analysis.calibration import CalibrationOptions, calibrate, promised
from jury_analysis.certification import Certificate, certify, clopper_pearson, clustered_bound, fewest_labels
from jury_analysis.last_votes import last_votes
from jury_analysis.scale import Scale
from jury_analysis.verdict_signals import levels, signal_values
from jury_analysis.vote_matrix import Bools, Floats, Ints
from jury_events.calibration import ShareSignal
from support.reference_data import needs_reference_data, reference, triviaqa

CORRECT = Scale(("incorrect", "correct"), ordered=True)
LEVELS = np.array([1.0, 0.75, 0.5, 0.25])


def a_certificate(*steps: tuple[float, int, int], risk: float = 0.05, clusters: int | None = None) -> Certificate:
    """Steps of (signal, units, wrong)."""
    values = np.concatenate([np.full(units, signal) for signal, units, _ in steps])
    wrong = np.concatenate([np.arange(units) < errors for _, units, errors in steps])
    codes = np.arange(len(values)) if clusters is None else np.arange(len(values)) % clusters
    return certify(values, wrong, codes, LEVELS, risk=risk, confidence=0.9)


@pytest.mark.parametrize(
    ("risk", "confidence", "fewest"),
    [(0.05, 0.9, 45), (0.05, 0.95, 59), (0.02, 0.9, 114), (0.02, 0.95, 149), (0.01, 0.9, 230), (0.01, 0.95, 299)],
)
def test_the_fewest_labels_certify_exactly_if_nothing_is_wrong(risk: float, confidence: float, fewest: int) -> None:
    assert fewest == fewest_labels(risk, confidence)
    assert clopper_pearson(0, fewest, confidence) <= risk < clopper_pearson(0, fewest - 1, confidence)


@pytest.mark.parametrize(("wrong", "accepted"), [(0, 10), (4, 428), (26, 878), (10, 10), (1, 2)])
def test_the_exact_bound_agrees_with_scipy(wrong: int, accepted: int) -> None:
    oracle = binomtest(wrong, accepted, alternative="less").proportion_ci(confidence_level=0.9, method="exact")

    assert oracle.high == pytest.approx(clopper_pearson(wrong, accepted, 0.9))


def test_thresholds_are_tried_from_the_highest_down_until_one_fails() -> None:
    found = a_certificate((1.0, 100, 0), (0.75, 100, 10), (0.5, 1000, 0))

    assert ["certified", "refused", "not tested"] == [one.outcome for one in found.candidates]
    assert (1.0, 100 / 1200) == (found.threshold, found.coverage)


def test_a_level_that_accepts_too_few_for_any_promise_is_passed_over() -> None:
    found = a_certificate((1.0, 10, 0), (0.75, 100, 0))

    assert [("passed over", 10), ("certified", 110)] == [(one.outcome, one.accepted) for one in found.candidates]


def test_a_level_without_any_verdict_of_its_own_is_no_threshold() -> None:
    found = a_certificate((1.0, 100, 0))

    assert [1.0] == [one.threshold for one in found.candidates]


def test_verdicts_that_the_promise_is_not_about_are_never_accepted() -> None:
    values = np.array([1.0] * 60 + [np.nan] * 40)
    found = certify(values, np.isnan(values), np.arange(100), np.array([1.0, 0.0]), risk=0.05, confidence=0.9)

    assert (60, 60, 0.6) == (found.subject, found.candidates[-1].accepted, found.coverage)


def test_the_labels_that_would_do_do() -> None:
    refused = a_certificate((1.0, 1000, 43), (0.5, 1000, 0))
    assert refused.labels_needed is not None
    accepted = refused.labels_needed // 2  # of two units one is accepted

    def outcome(units: int) -> str:
        return a_certificate((1.0, units, round(0.043 * units)), (0.5, units, 0)).candidates[0].outcome

    assert refused.threshold is None
    assert ("certified", "refused") == (outcome(round(1.05 * accepted)), outcome(round(0.95 * accepted)))


def test_more_labels_do_not_help_where_too_many_are_wrong() -> None:
    found = a_certificate((1.0, 100, 20))

    assert (None, None) == (found.threshold, found.labels_needed)
    assert "20 of 100 accepted verdicts are wrong: more labels like these would not do" in (found.reason or "")


def test_too_few_accepted_verdicts_name_the_labels_that_would_do() -> None:
    found = a_certificate((1.0, 30, 0))

    assert 45 == found.labels_needed


def drawn(seed: int, clusters: int = 60) -> tuple[Bools, Bools, Ints]:
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(clusters), random.integers(1, 8, clusters))
    return random.random(len(codes)) < 0.7, random.random(len(codes)) < 0.1, codes


@pytest.mark.parametrize("seed", range(5))
def test_at_the_clustered_bound_the_t_test_of_the_clusters_is_at_its_limit(seed: int) -> None:
    accepted, wrong, codes = drawn(seed)
    bound = clustered_bound(accepted, wrong, codes, 0.9)
    excess = np.bincount(codes, weights=accepted * (wrong - bound))

    assert 0.1 == pytest.approx(ttest_1samp(excess, 0.0, alternative="less").pvalue)


def test_clusters_that_accept_nothing_count_in_the_clustered_bound() -> None:
    accepted, wrong, codes = drawn(1)
    more = np.concatenate([codes, np.arange(1000, 1060)])
    none = np.zeros(60, dtype=np.bool_)

    assert clustered_bound(accepted, wrong, codes, 0.9) != clustered_bound(
        np.concatenate([accepted, none]), np.concatenate([wrong, none]), more, 0.9
    )


def test_without_an_error_every_cluster_is_one_trial() -> None:
    every, codes = np.ones(90, dtype=np.bool_), np.repeat(np.arange(30), 3)

    assert clopper_pearson(0, 30, 0.9) == clustered_bound(every, ~every, codes, 0.9)


def test_clusters_never_promise_more_than_as_many_independent_cases() -> None:
    # One error in 300 cases: t of 30 clusters alone gives 0.0077, which ten times as many trials would not.
    found = a_certificate((1.0, 300, 1), clusters=30)

    assert clopper_pearson(1, 300, 0.9) == found.candidates[0].upper_bound


def test_without_an_error_the_labels_that_would_do_are_of_as_many_clusters() -> None:
    found = a_certificate((1.0, 300, 0), clusters=30)

    assert 450 == found.labels_needed  # 45 clusters of 10 cases
    assert "0 of 300 accepted verdicts are wrong, but in 30 clusters, each of which is one trial" in (
        found.reason or ""
    )
    assert 1.0 == a_certificate((1.0, 450, 0), clusters=45).threshold


def test_cases_that_share_a_cluster_get_the_clustered_bound_with_its_warnings() -> None:
    found = a_certificate((1.0, 400, 4), clusters=50)

    assert ("clustered t", 50) == (found.bound, found.clusters)
    assert ["asymptotic", "fewer than 100"] == [
        word for line, word in zip(found.warnings, ("asymptotic", "fewer than 100"), strict=True) if word in line
    ]
    assert () == a_certificate((1.0, 400, 4)).warnings


NINE = "triviaqa_nine_llm_judges"


@needs_reference_data
@pytest.mark.parametrize("risk", ["0.02", "0.03", "0.05", "0.08", "0.01"])
def test_thresholds_of_nine_judges_agree_with_the_reference(risk: str) -> None:
    expected = reference("selective_triviaqa_nine")[risk]
    table = triviaqa(reference(NINE)["raters"])
    by_item = table.set_column(table.schema.get_field_index("cluster"), "cluster", table["case_id"])

    found = calibrate(by_item, None, CalibrationOptions(risk=float(risk), scale=CORRECT)).certificate

    assert "clopper-pearson" == found.bound
    if expected["threshold"] is None:
        assert found.threshold is None
        return
    assert found.threshold is not None
    assert expected["threshold"] == pytest.approx(found.threshold, abs=1e-6)
    assert expected["coverage"] == pytest.approx(found.coverage, abs=1e-6)
    chosen = next(one for one in found.candidates if one.threshold == found.threshold)
    assert (expected["accepted"], expected["wrong"]) == (chosen.accepted, chosen.wrong)
    for row, one in zip(expected["upper_bounds"], found.candidates, strict=False):
        assert row == pytest.approx([one.threshold, one.accepted, one.wrong, one.upper_bound], abs=5e-5)


def broken_promises(samples: int, *, by_cluster: bool) -> float:
    """The share of redrawn samples of 113 questions whose threshold at 7 % breaks its promise on all questions."""
    votes = last_votes(triviaqa(reference(NINE)["raters"]), CORRECT)
    known = votes.labels >= 0
    values: Floats = signal_values(ShareSignal(), votes)[known]
    wrong, questions = promised(votes, "error")[1][known], votes.matrix.clusters[known]
    steps = levels(ShareSignal(), values, len(votes.matrix.seats))
    rows = [np.flatnonzero(questions == code) for code in range(questions.max() + 1)]
    random = np.random.default_rng(20260927)
    broken = 0
    for _ in range(samples):
        chosen = [rows[code] for code in random.integers(0, len(rows), len(rows))]
        units = np.concatenate(chosen)
        codes = np.repeat(np.arange(len(chosen)), [len(one) for one in chosen])
        codes = codes if by_cluster else np.arange(len(units))
        found = certify(values[units], wrong[units], codes, steps, risk=0.07, confidence=0.9)
        if found.threshold is not None:
            accepted = values >= found.threshold
            broken += wrong[accepted].mean() > 0.07
    return broken / samples


@needs_reference_data
def test_the_clustered_threshold_keeps_its_promise_on_redrawn_clusters() -> None:
    assert broken_promises(500, by_cluster=True) <= 0.13


@needs_reference_data
def test_the_bound_by_item_breaks_its_promise_on_redrawn_clusters() -> None:
    assert broken_promises(500, by_cluster=False) > 0.13
