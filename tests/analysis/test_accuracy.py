"""Verdicts against labels: hand-worked tables, scikit-learn and statsmodels, and reference figures."""

import json
import math
from typing import Any

import numpy as np
import pytest

from jury_analysis import OURS, AccuracyReport, Scale, accuracy, vote_matrix
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import FOLDER, ballots_of, needs_reference_data, reference, reference_rows, triviaqa

SAFE, REVIEW, UNSAFE = OURS.categories

VOTES = [
    (SAFE, SAFE, SAFE),
    (SAFE, SAFE, UNSAFE),
    (UNSAFE, SAFE, UNSAFE),
    (UNSAFE, REVIEW, UNSAFE),
    (UNSAFE, None, UNSAFE),
    (SAFE, REVIEW, UNSAFE),
    (REVIEW, REVIEW, UNSAFE),
    (SAFE, SAFE, SAFE),
]
LABELS = [SAFE, SAFE, SAFE, UNSAFE, UNSAFE, UNSAFE, REVIEW, None]
FINALS = [SAFE, SAFE, UNSAFE, UNSAFE, UNSAFE, REVIEW, REVIEW, SAFE]


def report(**changed: Any) -> AccuracyReport:
    values = {"labels": LABELS, "finals": FINALS} | changed
    scale = values.pop("scale", OURS)
    return accuracy(vote_matrix(ballots(values.pop("votes", VOTES), **values), scale))


def test_confusion_has_a_row_for_each_label_and_a_last_column_for_missing_verdicts() -> None:
    found = report()

    assert (SAFE, UNSAFE) == (found.passing, found.failing)
    assert ((2, 0, 1, 0), (0, 1, 0, 0), (1, 0, 2, 0)) == found.seats[0].confusion
    assert ((3, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 1)) == found.seats[1].confusion
    assert (7, 1) == (found.labelled, found.unlabelled)


def test_an_abstention_stays_in_the_denominator_of_accuracy_and_is_reported_as_coverage() -> None:
    seat = report().seats[1]

    assert (4 / 7, 6 / 7, 4 / 6) == (seat.accuracy.value, seat.coverage.value, seat.accuracy_of_decided.value)
    assert (7, 1, 0) == (seat.labelled, seat.no_verdict, seat.abstentions)


def test_an_undecided_panel_is_wrong_and_counted() -> None:
    panel = report().panel

    assert ((2, 0, 1, 0), (0, 1, 0, 0), (0, 0, 2, 1)) == panel.confusion
    assert (5 / 7, 1) == (panel.accuracy.value, panel.no_verdict)


def test_each_decided_case_is_right_a_false_pass_or_a_false_fail() -> None:
    ends = [(verdict, label) for verdict in (*OURS.categories, None) for label in (*OURS.categories, None)]
    verdicts, labels = zip(*(end for number, end in enumerate(ends, 1) for _ in range(number)), strict=True)
    jury = report(votes=[(one, SAFE) for one in verdicts], finals=list(verdicts), labels=list(labels)).jury
    assert jury is not None
    found = jury.decided
    counts = (found.right.n, found.number_right, found.false_passes, found.false_fails, found.left)

    assert (1 + 2 + 3 + 9 + 10 + 11, 1 + 11, 2 + 3, 9 + 10, 5 + 6 + 7 + 13 + 14 + 15) == counts
    assert found.labelled == found.right.n + found.left


def test_false_passes_and_false_fails_are_rates_of_the_labels_at_either_end() -> None:
    first, second, third = report().seats

    assert (1, 1 / 3) == (first.false_passes, first.false_pass_rate.value)
    assert (1, 1 / 3) == (first.false_fails, first.false_fail_rate.value)
    assert (0, 0.0, 3) == (second.false_passes, second.false_pass_rate.value, second.false_pass_rate.n)
    assert (2, 2 / 3) == (third.false_fails, third.false_fail_rate.value)


def test_labels_of_the_two_ends_make_the_middle_verdict_an_abstention() -> None:
    labels = [SAFE, SAFE, SAFE, UNSAFE, UNSAFE, UNSAFE, UNSAFE, None]
    found = report(labels=labels, scale=OURS.against([SAFE, UNSAFE]))

    assert REVIEW == found.abstaining
    assert (3 / 7, 3 / 7, 1.0) == tuple(
        one.value for one in (found.seats[1].accuracy, found.seats[1].coverage, found.seats[1].accuracy_of_decided)
    )
    assert (1, 3) == (found.seats[1].no_verdict, found.seats[1].abstentions)


def test_the_final_verdict_is_a_rater_where_it_is_known() -> None:
    jury = report().jury

    assert jury is not None
    assert (5 / 7, 1) == (jury.accuracy.value, jury.confusion[2][1])
    assert report(finals=None).jury is None


def test_without_labels_every_figure_has_a_reason() -> None:
    found = report(labels=None)

    assert (0, 8) == (found.labelled, found.unlabelled)
    assert "no unit has a label" == found.panel.accuracy.reason
    assert found.seats[0].kappa.reason
    assert () == found.best_seats


@pytest.mark.full
def test_kappa_and_its_interval_agree_with_other_libraries() -> None:
    from scipy.stats import t
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import cohens_kappa

    random = np.random.default_rng(3)
    labels = [OURS.categories[code] for code in random.choice(3, 200, p=(0.75, 0.05, 0.2))]
    verdicts = [
        one if random.random() < 0.6 else OURS.categories[random.choice(3, p=(0.2, 0.3, 0.5))] for one in labels
    ]
    kappa = report(votes=[(one,) for one in verdicts], labels=labels, finals=None).seats[0].kappa
    order = list(OURS.categories)
    table = np.array([[sum(p == (i, j) for p in zip(labels, verdicts, strict=True)) for j in order] for i in order])
    half = t.ppf(0.975, 199) * cohens_kappa(table).std_kappa * math.sqrt(200 / 199)

    assert cohen_kappa_score(labels, verdicts) == pytest.approx(kappa.value, abs=1e-12)
    assert kappa.value is not None
    assert kappa.interval is not None
    assert (kappa.value - half, kappa.value + half) == pytest.approx((kappa.interval.low, kappa.interval.high))


def test_doubling_every_debate_in_its_cluster_changes_no_interval() -> None:
    votes, labels = VOTES[:7] * 3, LABELS[:7] * 3
    names = [f"k{number:02}" for number in range(21)]
    once = report(votes=votes, labels=labels, clusters=names, finals=None)
    twice = report(votes=votes * 2, labels=labels * 2, clusters=names * 2, finals=None)

    assert once.seats[0].kappa.interval == twice.seats[0].kappa.interval
    for one, two in zip(once.seats, twice.seats, strict=True):
        assert one.confusion == tuple(tuple(count // 2 for count in row) for row in two.confusion)
        assert one.accuracy.value == two.accuracy.value


@needs_reference_data
def test_seats_agree_with_the_reference_figures() -> None:
    single = json.loads((FOLDER / "reference_figures.json").read_text(encoding="utf-8"))["triviaqa_V1"]["single"]
    found = accuracy(vote_matrix(triviaqa(list(single)), Scale(("incorrect", "correct"), ordered=True)))

    for seat in found.seats:
        expected = single[seat.seat]
        assert expected["n"] == seat.accuracy_of_decided.n
        assert expected["missing"] == seat.no_verdict
        assert expected["accuracy"] == pytest.approx(seat.accuracy_of_decided.value, abs=1e-6)
        assert expected["kappa_vs_human"] == pytest.approx(seat.kappa.value, abs=1e-6)
        counts = expected["confusion_pos_correct"]
        assert ((counts["tn"], counts["fp"]), (counts["fn"], counts["tp"])) == tuple(row[:2] for row in seat.confusion)


@needs_reference_data
@each_row("seats", [("shieldagent", "alrphfs", "defend"), ("shieldagent", "defend", "agrail_emptyinput")])
def test_panels_agree_with_the_reference_figures(seats: tuple[str, ...]) -> None:
    figures = json.loads((FOLDER / "reference_figures.json").read_text(encoding="utf-8"))["rjudge"]
    expected = figures["panels"][" + ".join(seats)]
    rows = reference_rows("b1_rjudge_recorded_judges")
    table = ballots_of(
        [{seat: row["judges"][seat]["verdict"] for seat in seats} for row in rows],
        labels=[row["human_label"] for row in rows],
    )
    panel = accuracy(vote_matrix(table, Scale(("safe", "unsafe"), ordered=True))).panel

    assert expected["n_decided"] == panel.accuracy_of_decided.n
    assert expected["n_tied_or_split"] == panel.no_verdict
    assert expected["majority_accuracy_items_with_strict_plurality"] == pytest.approx(
        panel.accuracy_of_decided.value, abs=1e-6
    )
    assert expected["accuracy_if_split_counts_as_wrong"] == pytest.approx(panel.accuracy.value, abs=1e-6)
    assert expected["kappa_majority_vs_human"] == pytest.approx(panel.kappa.value, abs=1e-6)
    counts = expected["majority_confusion"]
    assert (counts["fn"], counts["fp"]) == (panel.false_passes, panel.false_fails)


@needs_reference_data
def test_the_panel_of_nine_has_the_accuracy_of_the_reference() -> None:
    seats = reference("triviaqa_nine_llm_judges")["raters"]
    panel = accuracy(vote_matrix(triviaqa(seats), Scale(("incorrect", "correct"), ordered=True))).panel

    assert reference("seat_value_triviaqa_nine")["v_full"] == pytest.approx(panel.accuracy.value, abs=1e-6)
    assert reference("calibration_triviaqa_nine")["accuracy"] == pytest.approx(
        panel.accuracy_of_decided.value, abs=1e-6
    )
    assert reference("calibration_triviaqa_nine")["undecided"] == panel.no_verdict
