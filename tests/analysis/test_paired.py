"""Two sets of ballots on the same cases: hand-worked tables, statsmodels, and reference figures."""

from typing import Any

import numpy as np
import pytest

from jury_analysis import OURS, BadBallots, OnlySimulated, Paired, PairedOptions, PairedTest, Scale, paired
from support.ballot_tables import ballots, one_seat, with_column
from support.each_row import each_row
from support.reference_data import ballots_of, needs_reference_data, reference, reference_rows, triviaqa

S, R, U = OURS.categories
ANSWERS = Scale(("incorrect", "correct"), ordered=False)


def from_table(table: Any, **more: Any) -> Paired:
    """Pairs with these counts: a row for each verdict of the first set, a column for each of the second."""
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    first, second = ([OURS.categories[cell[side]] for cell in cells] for side in (0, 1))
    return paired(one_seat(first, **more), one_seat(second, **more))


def test_flips_have_a_direction() -> None:
    report = from_table([[10, 2, 3], [1, 5, 0], [4, 0, 6]])

    assert ((10, 2, 3), (1, 5, 0), (4, 0, 6)) == report.table
    assert [(S, R, 2), (S, U, 3), (R, S, 1), (U, S, 4)] == [(f.before, f.after, f.pairs) for f in report.flips]
    assert (31, 21, 5, 5) == (report.pairs, report.unchanged, report.towards_last, report.towards_first)


@each_row(
    "table",
    [
        [[30, 8, 5], [2, 20, 9], [1, 3, 25]],
        [[12, 1, 9], [4, 3, 2], [2, 6, 4]],
        [[20, 0, 9], [0, 0, 0], [2, 0, 15]],
    ],
)
def test_the_tests_are_those_of_statsmodels(table: list[list[int]]) -> None:
    from statsmodels.stats.contingency_tables import SquareTable

    report = from_table(table)
    used = [c for c in range(3) if sum(table[c]) + sum(row[c] for row in table)]
    oracle = SquareTable(np.array(table)[np.ix_(used, used)], shift_zeros=False)

    homogeneity, symmetry = oracle.homogeneity(), oracle.symmetry()
    assert (len(used) - 1, len(used) * (len(used) - 1) // 2) == (
        report.marginal_homogeneity.degrees,
        report.symmetry.degrees,
    )
    assert homogeneity.statistic == pytest.approx(report.marginal_homogeneity.statistic)
    assert homogeneity.pvalue == pytest.approx(report.marginal_homogeneity.p_value)
    assert symmetry.statistic == pytest.approx(report.symmetry.statistic)
    assert symmetry.pvalue == pytest.approx(report.symmetry.p_value)


def test_every_pair_doubled_in_its_cluster_changes_no_test() -> None:
    table = [[30, 8, 5], [2, 20, 9], [1, 3, 25]]
    once = from_table(table, clusters=[f"k{n}" for n in range(103)])
    twice = from_table([[2 * n for n in row] for row in table], clusters=[f"k{n // 2}" for n in range(206)])

    def figures(report: Paired) -> list[float | None]:
        tests: list[PairedTest] = [report.marginal_homogeneity, report.symmetry]
        return [one.statistic for one in tests] + [one.standard_error for one in report.shares]

    assert figures(once) == pytest.approx(figures(twice))


def test_repeats_are_paired_with_each_other() -> None:
    first, second = (one_seat(verdicts, cases=["x", "x"]) for verdicts in ([S, U], [U, S]))
    first, second = (with_column(table, "repeat", repeats) for table, repeats in ((first, [1, 2]), (second, [2, 1])))

    assert 2 == paired(first, second).unchanged


def test_a_case_twice_in_a_set_is_refused() -> None:
    with pytest.raises(BadBallots, match="case 'x' is in more than one debate of the second set"):
        paired(one_seat([S], cases=["x"]), one_seat([S, S], cases=["x", "x"]))


def test_final_verdicts_are_paired_where_there_are_any() -> None:
    first = ballots([(S, S, U)] * 3, finals=[U, S, None], final_scores=[10, 90, 50])
    second = ballots([(U, U, S)] * 3)
    report = paired(first, second)

    assert ("final", "plurality") == report.verdicts
    assert ((0, 0, 1), (0, 0, 0), (0, 0, 1)) == report.table
    assert 1 == report.without_verdict
    seats = paired(first, second, options=PairedOptions(verdicts="plurality"))
    assert ((0, 0, 3), (0, 0, 0), (0, 0, 0)) == seats.table


def test_shares_have_all_pairs_in_the_denominator() -> None:
    report = paired(one_seat([S, S, U, None]), one_seat([S, U, U, S]))
    shares = {one.verdict: (one.first, one.second, one.change.value) for one in report.shares}

    assert {S: (0.5, 0.5, 0.0), R: (0.0, 0.0, 0.0), U: (0.25, 0.5, 0.25)} == shares
    assert 1 == report.without_verdict


def test_scores_change_by_the_mean_difference() -> None:
    first = one_seat([S, S, U], scores=[[90.0], [80.0], [None]])
    second = one_seat([S, S, U], scores=[[70.0], [90.0], [10.0]])
    score = paired(first, second).score

    assert (85.0, 80.0, -5.0, 2) == (score.first, score.second, score.change.value, score.change.n)


def test_labels_tell_which_flips_help() -> None:
    from scipy.stats import binomtest

    labels = [S, S, U, U, U, None]
    report = paired(one_seat([S, U, S, U, U, S], labels=labels), one_seat([S, S, U, S, U, U], labels=labels))
    against = report.against_labels

    assert against is not None
    assert (5, 2, 1, 2, 0) == (
        against.pairs,
        against.right_to_right,
        against.right_to_wrong,
        against.wrong_to_right,
        against.wrong_to_wrong,
    )
    assert 0.2 == pytest.approx(against.accuracy.change.value)
    assert (1 / 3, 1 / 3) == (against.false_passes.first, against.false_passes.second)
    assert (0.5, 0.0) == (against.false_fails.first, against.false_fails.second)
    assert binomtest(1, 3).pvalue == pytest.approx(against.mcnemar_p)


def test_pairs_that_the_sets_label_differently_have_no_label() -> None:
    report = paired(one_seat([S, S], labels=[S, S]), one_seat([S, S], labels=[U, None]))

    assert report.against_labels is not None
    assert (1, 1) == (report.labels_differ, report.against_labels.pairs)


def test_fewer_than_ten_clusters_have_neither_test_nor_interval() -> None:
    report = from_table([[2, 1, 3], [0, 0, 0], [0, 0, 0]])

    assert "6 clusters, fewer than 10" == report.marginal_homogeneity.reason
    assert (None, None) == (report.symmetry.p_value, report.shares[0].change.interval)
    assert 0 == report.tests


def test_all_p_values_are_one_family() -> None:
    from statsmodels.stats.multitest import multipletests

    report = from_table([[30, 8, 5], [2, 20, 9], [1, 3, 25]])
    tables, changes = (report.marginal_homogeneity, report.symmetry), report.shares
    found = [(one.p_value, one.p_holm) for one in tables] + [(one.p_value, one.p_holm) for one in changes]

    assert 5 == report.tests
    assert multipletests([p for p, _ in found], method="holm")[1] == pytest.approx([p for _, p in found])


def test_simulated_sets_are_refused_unless_asked_for() -> None:
    first, second = one_seat([S] * 3), one_seat([S, S, U])
    second = with_column(second, "simulated", [True] * 3)

    with pytest.raises(OnlySimulated):
        paired(first, second)
    report = paired(first, second, options=PairedOptions(simulated=True))
    assert ("second set: 3 of 3 debates are simulated: their votes are no evaluation by a model",) == report.warnings


@needs_reference_data
def test_reference_marginal_homogeneity() -> None:
    expected = reference("marginal_homogeneity_xstest")
    scale = Scale(tuple(expected["order"]), ordered=True)
    rows = reference_rows("b4_xstest")
    first, second = (
        ballots_of([{"x": row["judges"].get(rater)} for row in rows]) for rater in (expected["rows"], expected["cols"])
    )
    report = paired(first, second, options=PairedOptions(scale=scale))

    assert expected["table"] == [list(row) for row in report.table]
    for found, (statistic, p_value, *degrees) in (
        (report.marginal_homogeneity, expected["stuart_maxwell"]),
        (report.symmetry, expected["bowker"]),
    ):
        assert statistic == pytest.approx(found.statistic, abs=1e-6)
        assert p_value == pytest.approx(found.p_value, abs=1e-6)
        assert degrees in ([], [found.degrees])


@needs_reference_data
@each_row("name", ["gate_far", "gate_near"])
def test_reference_change_of_accuracy(name: str) -> None:
    """One pair is without an evaluation: the p value is a bound, above that of the pairs as they were counted."""
    from scipy.stats import t

    expected = reference(name)
    report = paired(triviaqa(expected["base"]), triviaqa(expected["candidate"]), options=PairedOptions(scale=ANSWERS))
    against = report.against_labels

    assert against is not None
    assert (expected["n"], expected["clusters"]) == (against.pairs, report.clusters)
    assert expected["base_right_candidate_wrong"] == against.right_to_wrong
    assert expected["base_wrong_candidate_right"] == against.wrong_to_right
    accuracy: Any = against.accuracy
    interval = accuracy.change.interval
    counted = 2 * t.sf(abs(accuracy.change.value / accuracy.standard_error), report.clusters - 1)
    assert (accuracy.without_evaluation, accuracy.p_value) == (1, accuracy.possible.p_value)
    assert accuracy.p_value > counted
    figures = [accuracy.change.value, accuracy.standard_error, counted, interval.low, interval.high]
    names = ["accuracy_change", "se_clustered_CR1", "p_clustered_t"]
    assert [*(expected[one] for one in names), *expected["ci95_clustered_t"]] == pytest.approx(figures, abs=1e-6)
