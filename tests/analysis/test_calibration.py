"""Signals and parts of a calibration: scikit-learn, hand-worked tables, refusals."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    AnySignal,
    BadSplit,
    CalibrationOptions,
    CalibrationReport,
    Codes,
    LastVotes,
    OnlySimulated,
    Scale,
    TooFewLabels,
    calibrate,
    dawid_skene,
    fit_signal,
    last_votes,
    promised,
    signal_values,
    split_clusters,
)
from jury_events import SignalKind
from support.ballot_tables import ballots, with_column
from support.each_row import each_row
from support.reference_data import needs_reference_data, reference, triviaqa

SAFE, REVIEW, UNSAFE = OURS.categories
TWO = Scale(("bad", "good"), ordered=True)


def a_table(units: int = 240, **more: Any) -> pa.Table:
    """Three seats, right with 90, 80 and 60 %, that state confidences."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, units)
    right = random.random((units, 3)) < np.array([0.9, 0.8, 0.6])
    names = np.array(TWO.categories)
    votes = names[np.where(right, truth[:, None], 1 - truth[:, None])]
    confidences = np.round(np.where(right, 0.9, 0.6) + random.normal(0, 0.05, (units, 3)), 2).clip(0, 1)
    return ballots(
        [tuple(row) for row in votes.tolist()],
        labels=names[truth].tolist(),
        confidences=[tuple(row) for row in confidences.tolist()],
        **more,
    )


def fitted(kind: SignalKind, table: pa.Table | None = None) -> tuple[AnySignal, LastVotes]:
    votes = last_votes(a_table() if table is None else table, TWO)
    return fit_signal(kind, votes, np.ones(votes.matrix.units, dtype=np.bool_)), votes


def found(table: pa.Table, **options: Any) -> CalibrationReport:
    return calibrate(table, None, CalibrationOptions(**{"scale": TWO, "risk": 0.2, **options}))


def test_the_share_has_every_seat_in_its_denominator() -> None:
    votes = last_votes(ballots([("good", "good", None), ("good", "bad", "bad"), ("good", "bad", None)]), TWO)
    signal = fit_signal("share", votes, np.zeros(3, dtype=np.bool_))

    assert [0.666666667, 0.666666667, None] == [
        None if np.isnan(value) else value for value in signal_values(signal, votes).tolist()
    ]


def test_isotonic_regression_agrees_with_scikit_learn() -> None:
    from sklearn.isotonic import IsotonicRegression

    signal, votes = fitted("isotonic")
    shares = signal_values(fit_signal("share", votes, votes.labels >= 0), votes)
    right = votes.verdicts == votes.labels
    oracle = IsotonicRegression(y_min=0, y_max=1).fit(shares, right).predict(shares)

    assert list(oracle) == pytest.approx(signal_values(signal, votes).tolist(), abs=1e-8)


def test_learned_weights_agree_with_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    signal, votes = fitted("weights")
    signs = np.where(votes.matrix.votes == 1, 1.0, -1.0)
    inputs = np.hstack(
        [np.stack([signs[:, seat], signs[:, seat] * votes.matrix.confidences[:, seat]], 1) for seat in range(3)]
    )
    chances = LogisticRegression(max_iter=10_000).fit(inputs, votes.labels).predict_proba(inputs)

    oracle = chances[np.arange(len(chances)), votes.verdicts]
    assert list(oracle) == pytest.approx(signal_values(signal, votes).tolist(), abs=2e-3)


def test_a_seat_that_always_says_the_same_has_no_weight() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 100)
    votes = [(TWO.categories[one], "good") for one in truth.tolist()]
    signal, _ = fitted("weights", ballots(votes, labels=[TWO.categories[one] for one in truth.tolist()]))

    assert signal.kind == "weights"
    assert ["a"] == [one.seat for one in signal.inputs]


def test_the_signal_of_dawid_and_skene_is_the_posterior() -> None:
    signal, votes = fitted("dawid_skene")
    posterior = dawid_skene(votes.matrix.votes, 2).posterior

    oracle = posterior[np.arange(len(posterior)), votes.verdicts]
    assert list(oracle) == pytest.approx(signal_values(signal, votes).tolist(), abs=1e-3)


def test_the_last_votes_are_those_of_each_debates_own_last_round() -> None:
    first = [(SAFE, SAFE), (SAFE, UNSAFE)]
    table = ballots([first, [(UNSAFE, UNSAFE)]], labels=[SAFE, SAFE], finals=[UNSAFE, UNSAFE])
    votes = last_votes(table, OURS)

    assert [[2, 2], [0, 2]] == votes.matrix.votes.tolist()
    assert ("jury", [2, 2]) == (votes.verdict, votes.verdicts.tolist())


def test_our_needs_review_is_never_accepted() -> None:
    table = ballots([(REVIEW, REVIEW), (SAFE, SAFE)], labels=[REVIEW, SAFE])

    assert [-1, 0] == last_votes(table, OURS).verdicts.tolist()


def test_false_passes_are_passes_that_are_labelled_a_fail() -> None:
    rows = [(SAFE,), (SAFE,), (UNSAFE,), (SAFE,)]
    votes = last_votes(ballots(rows, labels=[SAFE, UNSAFE, SAFE, REVIEW]), OURS)
    subject, wrong = promised(votes, "false_pass")

    assert [True, True, False, True] == subject.tolist()
    assert [False, True, False, False] == wrong.tolist()
    assert [False, True, True, True] == promised(votes, "error")[1].tolist()


def test_a_model_is_fitted_certified_and_reported_on_three_parts() -> None:
    report = found(a_table(), signal="weights")

    assert {"fit": 96, "certify": 96, "test": 48} == {name: part.labelled for name, part in report.parts.items()}
    assert report.test is not None
    assert (96, 48) == (report.certificate.units, report.test.units)


def test_parts_are_drawn_by_cluster_and_not_by_the_order_of_the_cases() -> None:
    table = a_table(clusters=[f"k{number % 30}" for number in range(240)])
    matrix = last_votes(table, TWO).matrix
    shuffled = last_votes(table.take(np.random.default_rng(1).permutation(table.num_rows)), TWO).matrix
    parts, again, other = (
        split_clusters(one, (40, 40, 20), seed) for one, seed in ((matrix, 1), (shuffled, 1), (matrix, 2))
    )

    assert (12, 12, 6) == tuple(len(set(matrix.clusters[part])) for part in (parts.fit, parts.certify, parts.test))
    assert not set(matrix.clusters[parts.fit]) & set(matrix.clusters[parts.certify])
    assert parts.fit.tolist() == again.fit.tolist() != other.fit.tolist()


def named(**cases: list[int]) -> dict[str, Any]:
    return {"cases": {part: [f"c{number:06}" for number in numbers] for part, numbers in cases.items()}}


@each_row(
    ("parts", "said"),
    [
        ({"certify": [1, 2, 3], "test": [3, 5]}, "case 'c000003' is in the parts certify and test"),
        ({"certify": [1, 2, 900, 901]}, "the part certify names the case 'c000900' and 1 more, of which there is no"),
        ({"certify": [1, 2], "test": [3, 4]}, "the cluster 'k1' has cases in the parts certify and test"),
        ({"certify": list(range(100))}, "name cases with --fit"),
    ],
)
def test_parts_that_are_not_parts_of_the_cases_are_refused(parts: dict[str, list[int]], said: str) -> None:
    table = a_table(clusters=[f"k{number // 2}" for number in range(240)])

    with pytest.raises(BadSplit, match=said):
        found(table, signal="isotonic", **named(**parts))


def test_fewer_labels_than_the_promise_takes_are_refused_with_the_number() -> None:
    with pytest.raises(TooFewLabels, match=r"240 labels to certify on are too few: .* takes 299 at least"):
        found(a_table(), risk=0.01, confidence=0.95)


@each_row("kind", ["isotonic", "weights"])
def test_fewer_than_ten_of_a_class_are_refused_where_a_model_is_fitted(kind: SignalKind) -> None:
    votes = [("good", "good")] * 91 + [("bad", "bad")] * 9
    table = ballots(votes, labels=["good"] * 91 + ["bad" if kind == "weights" else "good"] * 9)

    with pytest.raises(TooFewLabels, match=r"the fit part has 9 .*: 10 of each class are the least"):
        fitted(kind, table)


def test_simulated_debates_are_left_out_unless_asked_for() -> None:
    table = a_table()
    simulated = with_column(table, "simulated", [True] * table.num_rows)

    with pytest.raises(OnlySimulated, match="use include_simulated"):
        found(simulated)
    assert "240 of 240 debates are simulated" in found(simulated, simulated=True).warnings[0]


def test_another_label_gives_another_digest() -> None:
    table = a_table()
    labels = table["label"].to_pylist()
    first = table["debate_id"].to_pylist()[0]
    flipped = ["bad" if label == "good" else "good" for label in labels]
    mixed = [
        flip if debate == first else label
        for debate, label, flip in zip(table["debate_id"].to_pylist(), labels, flipped, strict=True)
    ]
    other = with_column(table, "label", mixed)

    assert found(table).labels != found(other).labels


NINE = "triviaqa_nine_llm_judges"


def some_votes(units: int = 80, seats: int = 4) -> Codes:
    random = np.random.default_rng(3)
    truth = random.integers(0, 3, units)
    votes = np.where(random.random((units, seats)) < 0.75, truth[:, None], random.integers(0, 3, (units, seats)))
    return np.where(random.random((units, seats)) < 0.1, -1, votes).astype(np.int8)


def test_the_estimates_are_a_fixed_point_of_the_definition() -> None:
    votes = some_votes()
    found = dawid_skene(votes, 3)
    prior = [found.posterior[:, true].mean() for true in range(3)]
    for unit, row in enumerate(votes):
        joint = np.array(prior)
        for seat, given in enumerate(row):
            if given >= 0:
                joint = joint * found.confusions[seat, :, given]

        assert list(joint / joint.sum()) == pytest.approx(list(found.posterior[unit]), abs=1e-6)
    assert np.ones((4, 3)) == pytest.approx(found.confusions.sum(axis=2))


def test_a_unit_without_votes_has_the_prior_and_changes_nothing() -> None:
    votes = some_votes()
    more = np.vstack([votes, np.full((1, 4), -1, dtype=np.int8)])

    assert dawid_skene(votes, 3).prior == pytest.approx(dawid_skene(more, 3).prior)
    assert dawid_skene(more, 3).prior == pytest.approx(dawid_skene(more, 3).posterior[-1])


@needs_reference_data
def test_nine_judges_agree_with_crowd_kit() -> None:
    expected = reference("dawid_skene_triviaqa_nine")
    seats = reference(NINE)["raters"]
    votes = last_votes(triviaqa(seats), Scale(("incorrect", "correct"), ordered=True))
    known = (votes.labels >= 0) & (votes.matrix.votes >= 0).any(axis=1)
    found = dawid_skene(votes.matrix.votes[known], 2)
    labels = votes.labels[known]
    right = found.posterior.argmax(axis=1) == labels
    sure = found.posterior.max(axis=1) > 0.99

    assert expected["n"] == len(labels)
    assert expected["accuracy"] == pytest.approx(right.mean(), abs=1e-6)
    assert expected["prior_correct"] == pytest.approx(found.prior[1], abs=1e-6)
    assert expected["brier_of_posterior"] == pytest.approx(np.square(found.posterior[:, 1] - labels).mean(), abs=1e-6)
    assert expected["posterior_above_0.99"] == pytest.approx(sure.mean(), abs=1e-6)
    assert expected["accuracy_above_0.99"] == pytest.approx(right[sure].mean(), abs=1e-6)
    for place, seat in enumerate(votes.matrix.seats):
        assert expected["sensitivity"][seat] == pytest.approx(found.confusions[place, 1, 1], abs=1e-6)
        assert expected["specificity"][seat] == pytest.approx(found.confusions[place, 0, 0], abs=1e-6)
