"""Several annotators: their own agreement, and the alternative-annotator test."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import OURS, AnnotatorReport, Scale, UnknownVerdict, VoteMatrix, annotations, annotators, vote_matrix
from support.ballot_tables import ballots
from support.each_row import each_row
from support.reference_data import needs_reference_data, reference, reference_rows

S, R, U = OURS.categories


def matrix(votes: list[Any], **more: Any) -> VoteMatrix:
    return vote_matrix(ballots(votes, **more), OURS)


def labels_of(rows: list[tuple[str | None, ...]]) -> pa.Table:
    """Labels of the cases c000000, c000001 … by the annotators h0, h1 …; None: not labelled."""
    return pa.Table.from_pylist(
        [
            {"case_id": f"c{case:06}", "annotator": f"h{place}", "label": label}
            for case, row in enumerate(rows)
            for place, label in enumerate(row)
            if label is not None
        ]
    )


def test_agreement_is_the_mean_share_of_agreeing_pairs_of_annotators() -> None:
    found = annotators(matrix([(S,)] * 4), labels_of([(S, S, S), (S, S, U), (S, None, U), (U, None, None)]))

    assert (1 + 1 / 3 + 0) / 3 == pytest.approx(found.agreement.value)
    assert (4, 3) == (found.cases, found.cases_of_several)


def test_each_annotator_is_compared_with_the_others() -> None:
    found = annotators(matrix([(S,)] * 4), labels_of([(S, S, S), (S, S, U), (S, None, U), (U, None, None)]))

    assert [("h0", 3, (1 + 1 / 2 + 0) / 3), ("h1", 2, (1 + 1 / 2) / 2), ("h2", 3, (1 + 0 + 0) / 3)] == [
        (one.annotator, one.cases, pytest.approx(one.agreement.value)) for one in found.annotators
    ]


def test_annotations_are_votes_with_the_clusters_of_the_cases() -> None:
    debates = matrix([(S,), (U,), (S,)], clusters=["k1", "k0", "k1"])
    votes = annotations(debates, labels_of([(S, U), (R, None), (S, S), (U, U)]))

    assert (("h0", "h1"), ("k0", "k1")) == (votes.seats, votes.cluster_names)
    assert ("c000000", "c000001", "c000002") == votes.case_names
    assert [[0, 2], [1, -1], [0, 0]] == votes.votes.tolist()
    assert [1, 0, 1] == votes.clusters.tolist()


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(UnknownVerdict, match="'fine' is none of the verdicts"):
        annotators(matrix([(S,)]), labels_of([("fine",)]))


def noisy(n: int, accuracies: tuple[float, ...], seed: int = 7) -> tuple[list[Any], pa.Table]:
    """One judge (the first accuracy) and annotators, all right with their chance and otherwise at random."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, n)
    given = [np.where(random.random(n) < one, truth, random.integers(0, 3, n)) for one in accuracies]
    names = [[OURS.categories[code] for code in each] for each in given]
    return [(one,) for one in names[0]], labels_of(list(zip(*names[1:], strict=True)))


def test_the_test_follows_its_definition() -> None:
    from scipy.stats import false_discovery_control, ttest_1samp

    votes, labels = noisy(80, (0.8, 0.8, 0.7, 0.75))
    found = annotators(matrix(votes), labels, epsilon=0.15).tests[0]
    humans = np.array(labels["label"].to_pylist()).reshape(80, 3)
    judge = np.array([row[0] for row in votes])
    p_values, wins = [], []
    for place in range(3):
        others = np.delete(humans, place, axis=1)
        fit_of_judge = (others == judge[:, None]).sum(axis=1)
        fit_of_human = (others == humans[:, place, None]).sum(axis=1)
        judge_wins, human_wins = fit_of_judge >= fit_of_human, fit_of_human >= fit_of_judge
        differences = human_wins.astype(float) - judge_wins
        p_values.append(float(ttest_1samp(differences, 0.15, alternative="less").pvalue))
        wins.append(float(judge_wins.mean()))
    adjusted = false_discovery_control(p_values, method="by")

    assert p_values == pytest.approx([one.p_value for one in found.humans])
    assert list(adjusted) == pytest.approx([one.p_adjusted for one in found.humans])
    assert wins == pytest.approx([one.judge_wins for one in found.humans])
    assert float(np.mean(adjusted <= 0.05)) == found.winning_rate.value
    assert float(np.mean(wins)) == pytest.approx(found.advantage.value)


def test_a_better_judge_passes_and_a_random_one_does_not() -> None:
    good, bad = (annotators(matrix(votes), labels).tests[0] for votes, labels in (
        noisy(200, (1.0, 0.7, 0.7, 0.7)),
        noisy(200, (0.0, 0.9, 0.9, 0.9)),
    ))  # fmt: skip

    assert (1.0, True) == (good.winning_rate.value, good.passes)
    assert (0.0, False) == (bad.winning_rate.value, bad.passes)


@each_row(("cases", "humans"), [(29, 3), (40, 2)])
def test_too_few_cases_or_annotators_have_no_test(cases: int, humans: int) -> None:
    found = annotators(matrix([(S,)] * cases), labels_of([(S,) * humans] * cases)).tests[0]

    assert (None, None, None, ()) == (found.winning_rate.value, found.advantage.value, found.passes, found.humans)
    assert "3 annotators or more with 30 cases each" in (found.winning_rate.reason or "")


def test_labels_of_other_cases_give_reasons_and_no_figures() -> None:
    labels = pa.table({"case_id": ["elsewhere"] * 2, "annotator": ["x", "y"], "label": [S, S]})
    found = annotators(matrix([(S,), (U,)]), labels)

    assert ((), 0, "no case has two annotators") == (found.annotators, found.cases, found.agreement.reason)
    assert found.tests[0].advantage.reason


def test_annotators_with_few_cases_take_no_part_and_are_named() -> None:
    rows = [(S, S, S, S if case < 10 else None) for case in range(40)]
    found = annotators(matrix([(S,)] * 40), labels_of(rows)).tests[0]

    assert (("h3",), ["h0", "h1", "h2"]) == (found.too_few_cases, [one.annotator for one in found.humans])


def test_repeated_debates_of_a_case_are_one_case() -> None:
    votes, labels = noisy(60, (0.8, 0.8, 0.7, 0.75))
    cases = [f"c{case:06}" for case in range(60)]
    once = annotators(matrix(votes, cases=cases), labels).tests[0]
    twice = annotators(matrix(votes * 2, cases=cases * 2), labels).tests[0]

    assert once == twice


def reference_report(name: str, categories: tuple[str, ...], seats: list[str], epsilon: float) -> AnnotatorReport:
    rows = reference_rows(name)
    table = ballots([[row["llm"][seat] for seat in seats] for row in rows], cases=[row["item_id"] for row in rows],
                    seats=seats)  # fmt: skip
    labels = pa.Table.from_pylist(
        [
            {"case_id": row["item_id"], "annotator": annotator, "label": label}
            for row in rows
            for annotator, label in row["human"].items()
            if label is not None
        ]
    )
    return annotators(vote_matrix(table, Scale(categories, ordered=True)), labels, epsilon=epsilon)


@needs_reference_data
@each_row(
    ("name", "section", "categories"),
    [
        ("b3_alttest_mtbench", "mtbench", ("model_a", "tie", "model_b")),
        ("b3_alttest_cebab_aspects", "cebab_aspects", ("Negative", "unknown", "Positive")),
    ],
)
def test_the_test_agrees_with_the_reference(name: str, section: str, categories: tuple[str, ...]) -> None:
    expected = reference("alt_test")[section]
    three = ["gpt-4o", "gemini_pro", "llama-31"]
    six = [seat for seat in expected if isinstance(expected[seat], dict) and "(" not in seat]
    found = {one.seat: one for one in reference_report(name, categories, six, expected["epsilon"]).tests}
    panel = reference_report(name, categories, three, expected["epsilon"]).tests[-1]

    for seat in six:
        assert expected[seat]["winning_rate"] == pytest.approx(found[seat].winning_rate.value, abs=1e-6)
        assert expected[seat]["advantage_probability"] == pytest.approx(found[seat].advantage.value, abs=1e-6)
    plurality = expected["plurality(gpt-4o,gemini_pro,llama-31)"]
    assert "panel" == panel.rater
    assert plurality["winning_rate"] == pytest.approx(panel.winning_rate.value, abs=1e-6)
    assert plurality["advantage_probability"] == pytest.approx(panel.advantage.value, abs=1e-6)
