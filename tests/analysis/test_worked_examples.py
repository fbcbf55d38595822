"""The examples of docs/reference/statistics.md: the figures that the page works out by hand are those of the code."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    accuracy,
    agreement,
    annotators,
    by_round,
    confidence,
    discussion,
    effective_votes,
    gate,
    probability_of_majority,
    quotation_shares,
    read_shares,
    self_agreement,
    shares,
    statistics,
    vote_matrix,
)
from support.ballot_tables import ballots

S, R, U = OURS.categories
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "statistics.md").read_text(encoding="utf-8")
VOTES = [(S, S, S), (S, S, U), (U, U, U), (S, R, None)]


def example(section: str) -> str:
    """The text of a section from its example on, as one line."""
    text = PAGE.split(f"\n### {section}\n")[-1].split("\n### ")[0]
    return " ".join(text.split("!!! example")[1].split())


def shown(figure: float | None) -> str:
    return f"{figure:.6f}"


def test_agreement() -> None:
    found = agreement(vote_matrix(ballots(VOTES), OURS))
    figures = (found.raw, found.alpha_nominal, found.alpha_ordinal, found.ac1, found.fleiss, found.pairs[0].kappa)

    for figure in figures:
        assert f"{shown(figure.value)}" in example("Agreement")


def test_self_agreement() -> None:
    table = ballots([(S,), (S,), (U,), (U,), (U,), (U,)], cases=["x"] * 3 + ["y"] * 3)
    found = self_agreement(vote_matrix(table, OURS))

    assert f"= {shown(found.seats[0].raw.value)}" in example("Self-agreement")


def test_accuracy() -> None:
    labels = [S, U, U, S]
    found = accuracy(vote_matrix(ballots(VOTES, labels=labels), OURS.against(labels)))
    first, second, _ = found.seats

    assert (0.75, 1, 0.5) == (first.accuracy.value, first.false_passes, first.false_pass_rate.value)
    assert (0.5, 0.75) == (second.accuracy.value, second.coverage.value)
    assert f"2/3 = {shown(second.accuracy_of_decided.value)}" in example("Against labels")
    assert f"accuracy {found.panel.accuracy.value}." in example("Against labels")
    assert f"/0.5 = {first.kappa.value}" in example("Against labels")


def test_faults_and_messages() -> None:
    facts: list[dict[str, Any]] = [
        {"label_message": message, "message_count": count, "outcome_correct": correct}
        for message, count, correct in ((3, 5, True), (2, 4, False), (4, 6, True), (None, 4, True))
    ]
    votes = [(U, U, S), (U, U, U), (S, U, U), (S, S, U)]
    named = [(3, 3, None), (2, 1, 3), (None, 4, 4), (None, None, 1)]
    (panel,) = statistics(ballots(votes, labels=[U, U, U, S], messages=named, facts=facts)).panels
    text = example("Faults and messages")

    assert panel.faults is not None
    assert panel.messages is not None
    first, _, last = panel.faults.seats
    assert f"finds 2/3 = {shown(first.found.value)} of" in text
    assert f"c 1/3 = {shown(last.message_exact_of_all.value)}." in text
    assert f"83/143 = {shown(panel.messages.corrected.value)}." in text
    assert (1.0, 2) == (panel.messages.plurality_right.value, panel.messages.plurality_right.n)


def test_quotations() -> None:
    votes = ballots([(U,), (U,)])
    counts = {"verified": [3, 0], "normalised": [1, 0], "elsewhere": [0, 1], "not_found": [0, 1]}
    for name, values in counts.items():
        votes = votes.append_column(name, pa.array(values, pa.int32()))
    found = quotation_shares(votes, OURS)
    text = example("Quotations")

    assert found is not None
    assert (6, 2) == (found.all.quotations, found.all.evaluations)
    assert [pytest.approx(1 / 6)] * 2 == [found.all.normalised.value, found.all.elsewhere.value]
    assert f"verified 3/6 = {shown(found.all.verified.value)}," in text
    assert f"result 1/6 = {shown(found.all.not_found.value)}." in text
    assert 0.5 == found.all.unsupported.value


def test_shares_read() -> None:
    votes = ballots([(U,), (S,), (U,), (S,), (R,)], labels=[U] * 5)
    votes = votes.append_column("read_percent", pa.array([None, 100, 99, 50, 10], pa.int32()))
    found = read_shares(votes, vote_matrix(votes, OURS))
    text = example("How much was read")

    assert found is not None
    assert f"3/5 = {shown(found.all.partly_read.value)} not on" in text
    assert f"/5 = {shown(found.all.mean_share.value)}, right" in text
    assert 0.5 == found.all.accuracy_of_whole.value
    assert f"1/3 = {shown(found.all.accuracy_of_partly_read.value)}." in text


def test_effective_votes() -> None:
    votes = [(U, U)] * 2 + [(U, S), (S, U)] + [(S, S)] * 6
    found = effective_votes(vote_matrix(ballots(votes, labels=[S] * 10), OURS))
    text = example("Error correlation and effective votes")

    assert f"11/21 = {shown(found.mean_phi.value)}" in text
    assert f"= {shown(found.effective.value)}" in text
    assert f"= {probability_of_majority(np.array([[0.9, 0.7, 0.6]]))[0]:.3f}" in text


def test_annotators() -> None:
    labels = pa.table({"case_id": ["c000000"] * 3, "annotator": ["x", "y", "z"], "label": [S, S, U]})
    found = annotators(vote_matrix(ballots([(S,)]), OURS), labels)

    assert f"1 of 3 pairs = {shown(found.agreement.value)}" in example("Several annotators")


def test_confidence() -> None:
    table = ballots([(S,), (S,), (U,), (S,)], labels=[S] * 4, confidences=[(0.9,), (0.85,), (0.4,), (0.35,)])
    curve = confidence(vote_matrix(table, OURS)).curves[1]
    text = example("Confidence")

    assert curve.ece.value == pytest.approx(0.125)
    assert "= 0.125." in text
    assert curve.brier.value == pytest.approx(0.15375)
    assert "= 0.15375." in text
    assert f": {shown(curve.auroc.value)}" in text


def test_discussion() -> None:
    rounds = [[(S, S, U), (S, U, R), (U, U, S), (S, S, S)], [(S, S, S), (S, U, U), (U, U, S), (S, None, U)]]
    step = discussion(by_round(ballots(rounds, labels=[S, U, S, None]), OURS)).steps[0]
    gain, text = step.net_gain, example("Discussion")

    assert f"{step.pairs} pairs, of which 3 changed: {shown(step.changed.value)}" in text
    assert (4, 3, 2, 0) == (gain.right_to_right, gain.wrong_to_wrong, gain.wrong_to_right, gain.right_to_wrong)
    assert f"net gain {gain.gain}." in text
    assert f"conformity {step.conformity.adopted}/{step.conformity.opposed}" in text
    assert (1, 2, 0) == step.moves.adopted[2]


def test_shares() -> None:
    labels = [U] * 20 + [S] * 80 + [None] * 900
    votes = [(U,)] * 28 + [(S,)] * 72 + [(U,)] * 272 + [(S,)] * 628
    found = shares(vote_matrix(ballots(votes, labels=labels), OURS.against([S, U])), random_labels=True)

    assert f"= {found[2].corrected.value:.3f}" in example("Shares")


def test_gates() -> None:
    before, after = [U] * 10 + [S] * 6 + [S] * 4 + [U] * 80, [S] * 10 + [U] * 6 + [S] * 4 + [U] * 80
    first, second = (ballots([(verdict,) for verdict in one], labels=[U] * 100) for one in (before, after))
    found, text = gate(first, second).gate, example("Gates")
    interval = found.harm.interval

    assert interval is not None
    assert f"right in {90} of them, the candidate in {86}" in text
    assert f"Harm {found.harm.value:.2f}" in text
    assert f"interval {interval.low:.3f} to {interval.high:.3f}: {found.decision}".replace("-", "−") in text
    assert f"{found.cases_needed} cases" in text
