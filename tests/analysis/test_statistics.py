"""The whole report: what must hold of all figures."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

from jury_analysis import (
    OURS,
    BadBallots,
    MixedPanels,
    OnlySimulated,
    Scale,
    StatisticsOptions,
    UnknownVerdict,
    report_schema,
    statistics,
)
from support.ballot_tables import ballots, with_column
from support.each_row import each_row
from support.reference_data import mmlu, needs_reference_data, reference, triviaqa

QUICK = StatisticsOptions(resamples=100)


def discussed(debates: int = 60) -> pa.Table:
    """Two rounds, three seats, labels, scores, confidences, a final judge."""
    generator = np.random.default_rng(9)
    truth = generator.integers(0, 3, size=debates)

    def votes(accuracy: float) -> list[list[str | None]]:
        right = generator.random((debates, 3)) < accuracy
        given = np.where(right, truth[:, None], generator.integers(0, 3, size=(debates, 3)))
        return [[OURS.categories[vote] for vote in row] for row in given]

    first = votes(0.6)
    first[0] = ["safe_pass", None, None]
    labels = [OURS.categories[code] for code in truth]
    return ballots(
        [first, votes(0.8)],
        labels=labels,
        scores=generator.integers(0, 101, size=(debates, 3)).astype(float).tolist(),
        confidences=generator.random((debates, 3)).tolist(),
        finals=labels,
        judges=labels,
    )


def options(**changes: Any) -> StatisticsOptions:
    return StatisticsOptions(resamples=100, **changes)


def test_simulated_debates_are_left_out_and_counted_unless_they_are_asked_for() -> None:
    table = discussed()
    mixed = with_column(table, "simulated", [row["debate_id"] < "d000020" for row in table.to_pylist()])
    simulated = with_column(table, "simulated", [True] * len(table))

    report, asked_for = statistics(mixed, options=QUICK), statistics(simulated, options=options(simulated=True))

    assert 40 == report.panels[0].debates
    assert [("simulated", "debates", 20)] == [(one.reason, one.unit, one.count) for one in report.excluded]
    assert () == report.warnings
    assert asked_for.warnings[0].startswith("60 of 60 debates are simulated")
    assert (60, 60) == (asked_for.panels[0].debates, asked_for.panels[0].simulated)
    with pytest.raises(OnlySimulated, match=r"all 60 debates are simulated.*use include_simulated"):
        statistics(simulated, options=QUICK)


def two_panels() -> pa.Table:
    table = discussed()
    return with_column(table, "panel", ["bbbb" if row["debate_id"] < "d000020" else None for row in table.to_pylist()])


def test_debates_of_different_panels_are_not_pooled() -> None:
    with pytest.raises(MixedPanels, match=r"2 panels: bbbb \(20 debates\), unknown \(40 debates\).*--by panel"):
        statistics(two_panels(), options=QUICK)


def test_tests_of_all_panels_are_one_family() -> None:
    report = statistics(two_panels(), options=options(by_panel=True))

    steps = [step.net_gain.test for panel in report.panels for step in panel.discussion.steps]
    smaller, larger = sorted(step.p_value or 0 for step in steps)
    assert 2 == report.tests_of_net_gain
    assert [2, 2] == [panel.discussion.tests for panel in report.panels]
    assert [min(1, 2 * smaller), max(2 * smaller, larger)] == pytest.approx(sorted(step.p_holm or 0 for step in steps))


def test_stale_and_synthetic_votes_are_counted_unless_asked_for() -> None:
    table = discussed()
    kinds = table["kind"].to_pylist()
    places = [place for place, row in enumerate(table.to_pylist()) if row["kind"] == "own" and row["round"] == 1]
    kinds[places[0]] = kinds[places[1]] = "stale"
    kinds[places[2]] = "synthetic"
    changed = with_column(table, "kind", kinds)

    left_out = {one.reason: one.count for one in statistics(changed, options=QUICK).panels[0].excluded}
    kept = {
        one.reason: one.count
        for one in statistics(changed, options=options(stale=True, synthetic=True)).panels[0].excluded
    }

    assert (2, 1) == (left_out["stale"], left_out["synthetic"])
    assert not {"stale", "synthetic"} & set(kept)


def test_debates_without_two_votes_are_counted() -> None:
    excluded = statistics(discussed(), options=QUICK).panels[0].excluded

    assert [1] == [one.count for one in excluded if one.reason.startswith("fewer than two votes")]


def test_later_labels_win_and_are_accounted_for() -> None:
    table = ballots([["safe_pass", "unsafe_fail"]] * 12, labels=["safe_pass"] * 12)
    rows = [(f"c{case:06}", who, "unsafe_fail") for case in range(11) for who in ("ann", "bob")]
    rows += [("c000011", "ann", "safe_pass"), ("c000011", "bob", "unsafe_fail"), ("elsewhere", "ann", "safe_pass")]
    labels = pa.table(dict(zip(("case_id", "annotator", "label"), map(list, zip(*rows, strict=True)), strict=True)))

    report = statistics(table, labels, QUICK)

    assert report.labels is not None
    assert (2, 13, 11, 1, 1) == (
        report.labels.annotators,
        report.labels.cases,
        len(report.labels.differing),
        report.labels.unmatched,
        report.labels.ties,
    )
    assert (11, 1) == (report.panels[0].against_labels.labelled, report.panels[0].against_labels.unlabelled)
    assert report.panels[0].annotators is not None
    assert 12 == report.panels[0].annotators.cases_of_several


def test_labels_of_the_two_ends_make_needs_review_an_abstention() -> None:
    table = ballots([["needs_review"], ["safe_pass"], ["unsafe_fail"]], labels=["safe_pass", "safe_pass", "safe_pass"])

    against = statistics(table, options=QUICK).panels[0].against_labels

    assert "needs_review" == against.abstaining
    assert against.panel.coverage.value == pytest.approx(2 / 3)
    assert 0.5 == against.panel.accuracy_of_decided.value


def test_rows_in_another_order_give_the_same_bytes() -> None:
    table = discussed()
    table = with_column(table, "cluster", [f"q{int(row['debate_id'][1:]) % 40}" for row in table.to_pylist()])
    shuffled = table.take(np.random.default_rng(3).permutation(len(table)))
    encoded = pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in zip(shuffled.column_names, shuffled.columns, strict=True)
        }
    )

    expected = json.dumps(statistics(table, options=QUICK).to_dict())

    assert expected == json.dumps(statistics(shuffled, options=QUICK).to_dict())
    assert expected == json.dumps(statistics(encoded, options=QUICK).to_dict())


def test_the_report_fits_its_published_schema() -> None:
    schema = report_schema("stats")

    Draft202012Validator.check_schema(schema)
    for table in (discussed(), ballots([["safe_pass"]]), ballots([["safe_pass", None], [None, None]])):
        report = json.loads(json.dumps(statistics(table, options=QUICK).to_dict(), allow_nan=False))
        Draft202012Validator(schema).validate(report)


def figures(value: Any) -> Iterator[dict[str, Any]]:
    """All estimates of a report."""
    if isinstance(value, dict):
        if {"value", "interval", "reason"} <= value.keys():
            yield value
        for item in value.values():
            yield from figures(item)
    elif isinstance(value, list):
        for item in value:
            yield from figures(item)


@each_row("debates", [2, 9, 10, 29, 60])
def test_every_figure_has_an_interval_or_a_reason_and_none_has_width_zero(debates: int) -> None:
    report = statistics(discussed(debates), options=QUICK).to_dict()

    assert list(figures(report))
    for figure in figures(report):
        assert (figure["value"] is None) == (figure["reason"] is not None)
        if figure["value"] is not None and figure["interval"] is None:
            assert any("no interval" in note for note in figure["notes"]), figure
        if figure["interval"] is not None:
            assert figure["interval"]["clusters"] >= 10
            assert figure["interval"]["high"] > figure["interval"]["low"]
            if figure["interval"]["clusters"] < 30:
                assert any("fewer than 30" in note for note in figure["notes"]), figure


@each_row(
    ("votes", "label"),
    [
        ([["safe_pass"]] * 40, None),
        ([["safe_pass", None], [None, "unsafe_fail"]] * 20, None),
        ([["safe_pass", "safe_pass"]] * 40, "safe_pass"),
        ([[None, None]] * 40, "safe_pass"),
    ],
    ids=["one seat", "no pair", "one class", "no vote"],
)
@pytest.mark.filterwarnings("error")
def test_degenerate_ballots_give_reasons_and_no_warning(votes: list[list[str | None]], label: str | None) -> None:
    report = statistics(ballots(votes, labels=[label] * 40 if label else None), options=QUICK)

    assert report.panels[0].agreement.alpha_nominal.reason


def test_ballots_without_a_first_round_are_refused() -> None:
    table = discussed()
    later = table.filter(pa.array([row["round"] == 1 for row in table.to_pylist()]))

    with pytest.raises(BadBallots, match="no juror's vote of round 0: rounds count from 0"):
        statistics(later, options=QUICK)
    with pytest.raises(BadBallots, match="there are no ballots"):
        statistics(table.slice(0, 0), options=QUICK)


def test_an_undeclared_label_is_refused() -> None:
    with pytest.raises(UnknownVerdict, match=r"'fine' is none of the verdicts safe_pass, .*--map"):
        statistics(ballots([["safe_pass"]], labels=["fine"]), options=QUICK)


@needs_reference_data
def test_nine_judges_agree_with_the_reference_figures() -> None:
    table = triviaqa(reference("triviaqa_nine_llm_judges")["raters"])

    report = statistics(table, options=StatisticsOptions(scale=Scale(("incorrect", "correct"), ordered=True)))

    panel = report.panels[0]
    assert panel.agreement.alpha_nominal.value == pytest.approx(0.557101, abs=1e-6)
    assert panel.agreement.ac1.value == pytest.approx(0.682365, abs=1e-6)
    assert panel.effective_votes.effective.value == pytest.approx(2.869821, abs=1e-6)
    assert panel.agreement.alpha_nominal.interval is not None
    assert (
        "0.50-0.60"
        == f"{panel.agreement.alpha_nominal.interval.low:.2f}-{panel.agreement.alpha_nominal.interval.high:.2f}"
    )


@needs_reference_data
def test_recorded_panels_are_refused_together_and_analysed_apart() -> None:
    scale = Scale(("A", "B", "C", "D"), ordered=False)

    with pytest.raises(MixedPanels):
        statistics(mmlu(), options=options(scale=scale))
    assert 140 == sum(panel.debates for panel in statistics(mmlu(), options=options(scale=scale, by_panel=True)).panels)


def test_the_report_imports_scipy_and_scikit_learn_only_when_it_is_computed() -> None:
    program = (
        "import sys, jury_analysis.statistics; "
        "sys.exit(any(name.split('.')[0] in {'scipy', 'sklearn'} for name in sys.modules))"
    )

    assert 0 == subprocess.run([sys.executable, "-c", program], check=False).returncode
