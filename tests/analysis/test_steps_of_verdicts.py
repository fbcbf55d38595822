"""Calibrations by votes and decisive messages: what is compared, and what the votes alone certify beside it."""

from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import (
    OURS,
    AnalysisError,
    CalibrationOptions,
    CalibrationReport,
    LastVotes,
    NoStepsNamed,
    Scale,
    calibrate,
    last_votes,
    signal_values,
)
from jury_events import VotesStepSignal
from support.ballot_tables import ballots

CLEAN, FAULTY = "clean", "faulty"
TWO = Scale((CLEAN, FAULTY), ordered=True)
MESSAGE = VotesStepSignal(passing=CLEAN, step="message")

AGREED = (FAULTY, FAULTY, FAULTY), (4, 4, 2)
APART = (FAULTY, FAULTY, FAULTY), (4, 2, None)
PASSED = (CLEAN, CLEAN, CLEAN), (None, None, None)


def a_table(kinds: list[Any], labels: list[str], **more: Any) -> pa.Table:
    votes, messages = zip(*kinds, strict=True)
    return ballots(votes, messages=messages, labels=labels, **more)


def found(table: pa.Table, **options: Any) -> CalibrationReport:
    return calibrate(table, None, CalibrationOptions(**{"scale": TWO, "signal": "votes+step", **options}))


def values(votes: LastVotes) -> list[float]:
    return [round(one, 6) for one in signal_values(MESSAGE, votes).tolist()]


def test_values_of_messages() -> None:
    votes = last_votes(a_table([AGREED, APART, PASSED], [FAULTY, FAULTY, CLEAN]), TWO)

    assert votes.steps is not None
    assert "message" == votes.steps.step
    assert [0.833333, 0.0, 0.5] == values(votes)


def test_the_votes_alone_are_certified_on_the_same_parts() -> None:
    # Half of the passes are wrong, and so are faults on different messages.
    kinds, labels = [AGREED] * 60 + [PASSED, APART] * 10, [FAULTY] * 60 + [CLEAN, CLEAN, FAULTY, CLEAN] * 5
    report = found(a_table(kinds, labels), risk=0.05)
    alone = report.votes_alone

    assert alone is not None
    assert (0.833333333, 60) == (report.certificate.threshold, report.certificate.candidates[0].accepted)
    assert [(1.0, 80, 15)] == [(one.threshold, one.accepted, one.wrong) for one in alone.certificate.candidates]
    assert alone.certificate.threshold is None
    assert (report.certificate.units, report.certificate.subject) == (
        alone.certificate.units,
        alone.certificate.subject,
    )
    assert alone.certificate == found(a_table(kinds, labels), risk=0.05, signal="share").certificate


def test_the_test_part_is_reported_for_both() -> None:
    report = found(a_table([AGREED] * 200, [FAULTY] * 200), split=(10.0, 60.0, 30.0))

    assert report.test is not None
    assert report.votes_alone is not None
    assert report.votes_alone.test is not None
    assert (60, 60) == (report.test.accepted, report.votes_alone.test.accepted)
    assert "the signal votes+step is not fitted: the 20 labels of the fit part are not used" in report.warnings


def test_other_signals_have_no_votes_alone_and_read_no_messages() -> None:
    table = a_table([AGREED, APART] * 30, [FAULTY] * 60)

    assert "votes_alone" not in found(table, signal="share").to_dict()
    assert found(table, signal="share") == found(table.drop_columns(["decisive_message"]), signal="share")


def test_without_any_named_message_it_is_refused() -> None:
    table = a_table([((FAULTY, FAULTY), (None, None))] * 60, [FAULTY] * 60)

    with pytest.raises(NoStepsNamed, match="no vote names one: votes of files need a column decisive_message"):
        found(table)
    with pytest.raises(NoStepsNamed):
        found(table.drop_columns(["decisive_message"]))


def test_a_promise_on_false_passes_is_refused() -> None:
    with pytest.raises(AnalysisError, match="use --signal share"):
        found(a_table([AGREED] * 60, [FAULTY] * 60), on="false_pass")


def test_items_win_over_messages() -> None:
    table = a_table([AGREED], [FAULTY])
    items = pa.array([9, 8, 7], pa.int32())
    both = table.append_column("decisive_item", items)
    nulls = pa.nulls(3, pa.int32())
    alone = both.set_column(both.schema.get_field_index("decisive_item"), "decisive_item", nulls)

    assert [("item", [[9, 8, 7]]), ("message", [[4, 4, 2]])] == [
        (one.steps.step, one.steps.numbers.tolist())
        for one in (last_votes(both, TWO), last_votes(alone, TWO))
        if one.steps
    ]


def test_each_seat_names_what_its_last_vote_names() -> None:
    P, _, F = OURS.categories
    table = ballots(
        [[(F, F, F), (F, F, F)], [(F, F, P)]],
        messages=[(4, 4, 4), (1, 2, 2)],
        labels=[F, F],
    ).to_pylist()
    for row in table:
        if row["round"] == 1:
            row["kind"] = {"a": "stale", "b": "own", "c": "own"}[row["seat"]]
            row["decisive_message"] = {"a": None, "b": 6, "c": None}[row["seat"]]
    votes = last_votes(pa.Table.from_pylist(table), OURS)

    assert votes.steps is not None
    assert [[4, 6, -1], [1, 2, 2]] == votes.steps.numbers.tolist()


def test_what_a_vote_that_does_not_count_names_does_not_count() -> None:
    rows = a_table([AGREED], [FAULTY]).to_pylist()
    rows[0]["kind"] = "synthetic"

    assert [0.0] == values(last_votes(pa.Table.from_pylist(rows), TWO))
