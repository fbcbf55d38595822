"""Faults and the messages at which they are found, against figures that were worked out by hand."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_analysis import (
    OURS,
    Estimate,
    FaultReport,
    MessageAgreement,
    Scale,
    StatisticsOptions,
    faults,
    message_agreement,
    named_messages,
    statistics,
    vote_matrix,
)
from jury_analysis.reasons import NO_RIGHT_MESSAGE, NONE_NAMES_A_MESSAGE
from support.ballot_tables import ballots
from support.each_row import each_row

S, R, U = OURS.categories
LABELS = [U, U, U, S]
VOTES = [(U, U, S), (U, U, U), (S, U, U), (S, S, U)]
MESSAGES = [(3, 3, None), (2, 1, 3), (None, 4, 4), (None, None, 1)]
FACTS: list[dict[str, Any]] = [
    {"label_message": 3, "message_count": 5, "outcome_correct": True},
    {"label_message": 2, "message_count": 4, "outcome_correct": False},
    {"label_message": 4, "message_count": 6, "outcome_correct": True},
    {"label_message": None, "message_count": 4, "outcome_correct": True},
]


def table(**changed: Any) -> pa.Table:
    return ballots(VOTES, **({"labels": LABELS, "messages": MESSAGES, "facts": FACTS} | changed))


def found(votes: pa.Table, scale: Scale = OURS) -> FaultReport:
    matrix = vote_matrix(votes, scale)
    named = named_messages(votes, matrix)
    assert named is not None
    return faults(matrix, named)


def agreed(votes: pa.Table) -> MessageAgreement:
    matrix = vote_matrix(votes, OURS)
    named = named_messages(votes, matrix)
    assert named is not None
    agreement = message_agreement(matrix, named)
    assert agreement is not None
    return agreement


def test_what_each_seat_finds() -> None:
    report = found(table())

    assert (3, 2, 1, 1, 3) == (report.faults, report.silent, report.loud, report.sound, report.messages)
    assert [(2 / 3, 1 / 2, 1.0, 0.0), (1.0, 1.0, 1.0, 0.0), (2 / 3, 1 / 2, 1.0, 1.0)] == [
        (one.found.value, one.silent_found.value, one.loud_found.value, one.false_alarms.value) for one in report.seats
    ]


def test_whether_it_is_found_at_the_right_message() -> None:
    a, b, c = found(table()).seats

    assert [(1.0, 2), (2 / 3, 3), (1 / 2, 2)] == [(one.message_exact.value, one.message_exact.n) for one in (a, b, c)]
    assert [(1.0, 2), (1.0, 3), (1.0, 2)] == [
        (one.message_within_one.value, one.message_within_one.n) for one in (a, b, c)
    ]
    assert [(2 / 3, 3), (2 / 3, 3), (1 / 3, 3)] == [
        (one.message_exact_of_all.value, one.message_exact_of_all.n) for one in (a, b, c)
    ]


def test_a_message_beside_a_verdict_that_passes_finds_no_fault() -> None:
    (seat,) = found(ballots([(S,), (U,)], labels=[U, U], messages=[(3,), (2,)], facts=FACTS[:2])).seats
    panel = found(table()).panel

    assert [(1.0, 1), (1 / 2, 2)] == [(one.value, one.n) for one in (seat.message_exact, seat.message_exact_of_all)]
    assert (1.0, 0.0) == (panel.found.value, panel.false_alarms.value), "of its pluralities"
    assert (1.0, 2) == (panel.message_exact.value, panel.message_exact.n)


def test_agreement_on_the_message_raw_and_corrected_by_the_number_of_messages() -> None:
    agreement = agreed(table())

    assert (pytest.approx(2 / 3), 3) == (agreement.raw.value, agreement.raw.n)
    assert pytest.approx(83 / 143) == agreement.corrected.value
    assert (pytest.approx(2 / 3), 3) == (agreement.one_message.value, agreement.one_message.n)


def test_a_plurality_is_no_majority_of_those_that_name_a_message() -> None:
    named = [(2, 2, 3, 1), (2, 2, 2, 1)]
    agreement = agreed(ballots([(U,) * 4] * 2, labels=[U, U], messages=named, facts=[{"label_message": 2}] * 2))

    assert (1.0, 2) == (agreement.plurality_right.value, agreement.plurality_right.n)
    assert (1.0, 1) == (agreement.majority_right.value, agreement.majority_right.n)


def test_a_tie_names_no_message() -> None:
    agreement = agreed(ballots([(U, U, U, U)], labels=[U], messages=[(1, 1, 2, 2)], facts=[{"label_message": 1}]))

    assert (None, 0) == (agreement.plurality_right.value, agreement.plurality_right.n)
    assert pytest.approx(2 / 6) == agreement.raw.value


def test_two_seats_that_name_the_same_message() -> None:
    pairs = {one.seats: one for one in agreed(table()).pairs}

    assert (1 / 2, 2) == (pairs["a", "b"].same.value, pairs["a", "b"].same.n)
    assert (1.0, 1) == (pairs["a", "b"].right.value, pairs["a", "b"].right.n)


def test_no_message_is_right_where_the_label_passes() -> None:
    facts = [{"label_message": None, "message_count": 4}, {"label_message": 1, "message_count": 4}]
    agreement = agreed(ballots([(U, U)] * 2, labels=[S, U], messages=[(1, 1)] * 2, facts=facts))

    assert (1 / 2, 2) == (agreement.plurality_right.value, agreement.plurality_right.n)


@each_row(
    ("labels", "facts"),
    [
        ([S, S], [{}, {}]),
        ([S, U], [{}, {"label_message": 7, "message_count": 3}]),
        ([U, U], [{"label_message": 3, "message_count": 3}] * 2),
    ],
)
def test_where_no_message_can_be_right_there_is_no_share_of_right_ones(labels: list[str], facts: list[Any]) -> None:
    votes = ballots([(U, U)] * 2, labels=labels, messages=[(1, 1)] * 2, facts=facts)
    agreement, panel = agreed(votes), found(votes).panel

    shares = [agreement.plurality_right, agreement.majority_right, agreement.pairs[0].right]
    assert [(None, NO_RIGHT_MESSAGE)] * 3 == [(one.value, one.reason) for one in shares]
    assert (None, None) == (panel.message_exact.value, panel.message_exact_of_all.value)
    assert (agreement.one_message.value, agreement.one_message.n) == (1.0, 2)


def test_where_no_vote_names_a_message_none_is_wrong() -> None:
    panel = found(ballots([(U, U)], labels=[U], facts=[{"label_message": 1, "message_count": 3}])).panel

    assert (None, NONE_NAMES_A_MESSAGE) == (panel.message_exact_of_all.value, panel.message_exact_of_all.reason)
    assert 1.0 == panel.found.value


def estimates(report: Any) -> Iterator[Estimate]:
    if isinstance(report, Estimate):
        yield report
    elif isinstance(report, dict):
        for value in report.values():
            yield from estimates(value)
    elif isinstance(report, tuple | list):
        for value in report:
            yield from estimates(value)
    elif dataclasses.is_dataclass(report):
        for field in dataclasses.fields(report):
            yield from estimates(getattr(report, field.name))


ANY_VERDICT = st.sampled_from([S, R, U, None])
ANY_MESSAGE = st.none() | st.integers(0, 4)
ROW = st.tuples(
    st.tuples(ANY_VERDICT, ANY_VERDICT, ANY_VERDICT),
    ANY_VERDICT,
    st.tuples(ANY_MESSAGE, ANY_MESSAGE, ANY_MESSAGE),
    st.fixed_dictionaries({"label_message": ANY_MESSAGE, "message_count": st.none() | st.integers(1, 4)}),
)


@pytest.mark.full
@given(rows=st.lists(ROW, min_size=1, max_size=6))
def test_a_share_of_cases_that_cannot_succeed_is_no_number(rows: list[Any]) -> None:
    votes, labels, messages, facts = map(list, zip(*rows, strict=True))
    report = statistics(
        ballots(votes, labels=labels, messages=messages, facts=facts),
        options=StatisticsOptions(scale=OURS, resamples=0),
    )

    assert all(one.n > 0 for one in estimates(report) if one.value is not None)
    right = [
        label != S and fact["label_message"] is not None and fact["label_message"] < (fact["message_count"] or 5)
        for label, fact in zip(labels, facts, strict=True)
    ]
    (panel,) = report.panels
    if not any(right):
        raters = () if panel.faults is None else (*panel.faults.seats, panel.faults.panel)
        shares = [share for one in raters for share in (one.message_exact, one.message_exact_of_all)]
        if panel.messages is not None:
            shares += [panel.messages.plurality_right, panel.messages.majority_right]
            shares += [pair.right for pair in panel.messages.pairs]

        assert [None] * len(shares) == [one.value for one in shares]


def test_where_the_label_names_no_message_none_is_right_or_wrong() -> None:
    agreement = agreed(ballots([(U, U)], labels=[U], messages=[(1, 1)]))

    assert (None, 0) == (agreement.plurality_right.value, agreement.plurality_right.n)
    assert "how many could be named is not known" == agreement.corrected.reason


def test_a_label_that_names_the_message_alone_is_a_fault() -> None:
    """As in collections of failed runs, where people named the message and no verdict."""
    votes = ballots([(U, U), (S, U)], messages=[(3, 3), (None, 1)], facts=FACTS[:2])
    first, second = found(votes).seats

    assert (1.0, 1) == (agreed(votes).plurality_right.value, agreed(votes).plurality_right.n)
    assert [(1 / 2, 2, 1.0), (1.0, 2, 1 / 2)] == [
        (one.found.value, one.found.n, one.message_exact.value) for one in (first, second)
    ]
    (panel,) = statistics(votes).panels
    assert panel.faults is not None
    assert (2, 0) == (panel.faults.faults, panel.faults.sound)


def test_a_vote_that_is_left_out_names_no_message() -> None:
    votes = table()
    kinds = ["stale" if row["seat"] == "a" and row["verdict"] else row["kind"] for row in votes.to_pylist()]
    stale = votes.set_column(votes.schema.get_field_index("kind"), votes.schema.field("kind"), pa.array(kinds))

    agreement = agreed(stale)

    assert [("b", "c")] == [one.seats for one in agreement.pairs]


def test_intervals_are_over_clusters() -> None:
    many = ballots(
        VOTES[:3] * 20, labels=LABELS[:3] * 20, messages=MESSAGES[:3] * 20, facts=FACTS[:3] * 20,
        clusters=[f"g{number // 4:02}" for number in range(60)],
    )  # fmt: skip

    interval = found(many).seats[0].found.interval

    assert interval is not None
    assert ("clustered t", 15) == (interval.method, interval.clusters)


def test_a_known_outcome_alone_tells_of_silent_faults() -> None:
    votes = ballots(VOTES, labels=LABELS, facts=[{"outcome_correct": one["outcome_correct"]} for one in FACTS])

    (panel,) = statistics(votes).panels

    assert panel.faults is not None
    assert (2, None) == (panel.faults.silent, panel.messages)
    assert "no label of a fault names its message" == panel.faults.panel.message_exact_of_all.reason


def test_the_order_of_rows_decides_nothing() -> None:
    votes = table()

    assert json.dumps(statistics(votes).to_dict()) == json.dumps(
        statistics(votes.take(list(reversed(range(len(votes)))))).to_dict()
    )
