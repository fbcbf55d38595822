"""Shares of the record that votes rest on, and who is right, against figures that were worked out by hand."""

from collections.abc import Sequence

import pyarrow as pa
import pytest

from jury_analysis import OURS, SCHEMA, STATISTICS_COLUMNS, ReadShares, check, read_shares, statistics, vote_matrix
from support.ballot_tables import Votes, ballots
from support.each_row import each_row

S, R, U = OURS.categories
Percents = Sequence[int | None]


def table(votes: Sequence[Votes], read: Sequence[Percents], **more: Sequence[str | None]) -> pa.Table:
    """Debates × seats of verdicts, and of the percentages that they rest on."""
    plain = ballots(votes, **more)
    percents = pa.array([one for row in read for one in row], pa.int32())
    return check(plain.append_column("read_percent", percents), (*SCHEMA.names, "read_percent"))


def found(votes: pa.Table) -> ReadShares:
    shares = read_shares(votes, vote_matrix(votes, OURS))
    assert shares is not None
    return shares


def test_nothing_is_all_of_it_in_one_call_and_100_is_all_of_it_in_parts() -> None:
    shares = found(table([(U, U)] * 4, [(None, 100), (None, 40), (100, 0), (None, 60)]))
    first, second = shares.seats

    assert (4, 0.0, 1.0) == (first.votes, first.partly_read.value, first.mean_share.value)
    assert (4, 0.75, 0.5) == (second.votes, second.partly_read.value, second.mean_share.value)
    assert (8, 0.375, 0.75) == (shares.all.votes, shares.all.partly_read.value, shares.all.mean_share.value)


def test_votes_with_the_whole_record_and_with_less_are_right_apart() -> None:
    votes = [(U,), (S,), (U,), (S,), (R,), (U,)]
    read = [(None,), (100,), (99,), (50,), (10,), (0,)]
    (seat,) = found(table(votes, read, labels=[U, U, U, U, U, None])).seats

    assert 5 == seat.labelled
    assert (1 / 2, 2) == (seat.accuracy_of_whole.value, seat.accuracy_of_whole.n)
    assert (pytest.approx(1 / 3), 3) == (seat.accuracy_of_partly_read.value, seat.accuracy_of_partly_read.n)


def test_votes_that_are_not_the_seats_own_do_not_count() -> None:
    votes = table([(U,), (U,)], [(50,), (None,)])
    made_up = votes.set_column(votes.column_names.index("kind"), "kind", pa.array(["own", "synthetic"]))

    shares = read_shares(made_up, vote_matrix(made_up, OURS, synthetic=True))

    assert shares is not None
    assert (1, 0.5) == (shares.all.votes, shares.all.mean_share.value)


def test_intervals_are_over_clusters_and_within_0_and_1() -> None:
    votes = table([(U, U)] * 12, [(None, 100)] * 11 + [(0, 0)])

    shares = found(votes)

    interval = shares.all.mean_share.interval
    assert interval is not None
    assert ("clustered t", 12, 1.0) == (interval.method, interval.clusters, interval.high)
    assert shares.all.partly_read.interval is not None
    assert 12 == shares.all.partly_read.interval.clusters


@each_row("percent", [None, 100])
def test_a_report_has_them_where_a_vote_has_a_value(percent: int | None) -> None:
    votes = table([(U, U), (S, U)], [(None, None), (None, percent)])

    (panel,) = statistics(votes).to_dict()["panels"]

    assert "read_percent" in STATISTICS_COLUMNS
    assert (percent is None) == (panel["reading"] is None)
    assert percent is None or 0.0 == panel["reading"]["all"]["partly_read"]["value"]
