"""Shares of verdicts, corrected by the labelled part."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import (
    EVIDENCE,
    OURS,
    SCHEMA,
    STATISTICS_COLUMNS,
    QuotationShares,
    ReadShares,
    Scale,
    VerdictShare,
    check,
    quotation_shares,
    read_shares,
    shares,
    statistics,
    vote_matrix,
)
from support.ballot_tables import Votes, ballots
from support.each_row import each_row

TWO = Scale(("n", "y"), ordered=True)


def of(verdicts: str, labels: str, *, random_labels: bool = True, clusters: list[str] | None = None) -> VerdictShare:
    """The share of y; a dash is no verdict or no label."""
    table = ballots(
        [[None if one == "-" else one] for one in verdicts],
        labels=[None if one == "-" else one for one in labels],
        clusters=clusters,
    )
    return shares(vote_matrix(table, TWO), random_labels=random_labels)[1]


def test_a_corrected_share_by_hand() -> None:
    """30 unlabelled, 18 of them y: .6. 20 labelled, of 12 y by the jury 4 are n by people: the correction is -.2."""
    found = of("y" * 18 + "n" * 12 + "y" * 12 + "n" * 8, "-" * 30 + "y" * 8 + "n" * 4 + "n" * 8)

    assert found.corrected.value == pytest.approx(0.6 - 0.2)
    variance = 0.6 * 0.4 / 29 + (4 * 0.8**2 + 16 * 0.2**2) / (20 * 19)
    assert found.corrected.interval is not None
    assert found.corrected.interval.high - found.corrected.interval.low == pytest.approx(
        2 * 2.093024 * np.sqrt(variance), rel=1e-6
    )
    assert (30, 0.6, 0.4) == (found.count, found.raw.value, found.labelled.value)


def test_without_a_random_sample_there_is_no_corrected_share() -> None:
    found = of("yyn", "y--", random_labels=False)

    assert "the labelled debates were not declared a random sample of all" == found.corrected.reason
    assert found.raw.value == pytest.approx(2 / 3)


def test_debates_without_a_verdict_stay_in_the_denominator() -> None:
    assert 0.5 == of("yy--", "----").raw.value


def test_an_error_of_zero_in_one_part_gives_no_interval() -> None:
    found = of("y" * 15 + "n" * 15 + "y" * 20, "-" * 30 + "y" * 20)

    assert 0.5 == found.corrected.value
    assert found.corrected.interval is None
    assert "width zero" in found.corrected.notes[-1]


def test_intervals_are_over_clusters() -> None:
    verdicts, labels = "yynyn" * 20, "-" * 60 + "ynnnyynynn" * 4
    alone = of(verdicts, labels).corrected.interval
    paired = of(verdicts, labels, clusters=[f"q{number // 2}" for number in range(100)]).corrected.interval

    assert alone is not None
    assert paired is not None
    assert (40, 20) == (alone.clusters, paired.clusters)


@pytest.mark.full
def test_the_corrected_share_covers_the_truth() -> None:
    """A jury that says y too often: about 95 % of 300 samples cover the true share, none without correction."""
    generator = np.random.default_rng(4)
    covered = uncorrected = 0
    for _ in range(300):
        truth = generator.random(300) < 0.3
        jury = truth | (generator.random(300) < 0.3)
        labels = np.where(np.arange(300) < 100, np.where(truth, "y", "n"), "-")
        found = of("".join(np.where(jury, "y", "n")), "".join(labels))
        assert found.corrected.interval is not None
        assert found.raw.interval is not None
        covered += found.corrected.interval.low <= 0.3 <= found.corrected.interval.high
        uncorrected += found.raw.interval.low <= 0.3 <= found.raw.interval.high

    assert 0.92 <= covered / 300 <= 0.98
    assert uncorrected < 3


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


def test_shares_read_of_votes_that_are_not_the_seats_own_do_not_count() -> None:
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


def quotations(*rows: dict[str, Any]) -> pa.Table:
    """A row a vote of seat a, each of a debate of its own unless it says otherwise."""
    made = [
        {
            "debate_id": f"d{number}",
            "case_id": f"d{number}",
            "cluster": f"d{number}",
            "repeat": 1,
            "round": 0,
            "role": "juror",
            "seat": "a",
            "kind": "own",
            "verdict": U,
            "simulated": False,
            **dict.fromkeys(EVIDENCE.names[:4], 0),
            **row,
        }
        for number, row in enumerate(rows)
    ]
    types = {name: pa.int32() for name in EVIDENCE.names[:4]}
    columns = {name: pa.array([row[name] for row in made], types.get(name)) for name in made[0]}
    return check(pa.table(columns), (*SCHEMA.names, *EVIDENCE.names))


def quoted(*rows: dict[str, Any], scale: Scale = OURS) -> QuotationShares:
    found = quotation_shares(quotations(*rows), scale)
    assert found is not None
    return found


def test_a_failing_verdict_is_supported_by_a_verified_or_a_normalised_quotation() -> None:
    (seat,) = quoted(
        {"verified": 1}, {"normalised": 1}, {"elsewhere": 2}, {"not_found": 1}, {}, {"verdict": R}, {"verdict": S}
    ).seats

    assert (5, 3 / 5) == (seat.failing, seat.unsupported.value)


def test_where_nothing_is_quoted_there_is_no_share() -> None:
    (seat,) = quoted({}).seats

    assert (1, 0, "nothing is quoted") == (seat.evaluations, seat.quotations, seat.verified.reason)


@each_row("kind", ["stale", "synthetic"])
def test_quotations_of_votes_that_are_not_the_seats_own_do_not_count(kind: str) -> None:
    found = quoted({"verified": 1}, {"not_found": 1, "kind": kind})

    assert (1, 1.0) == (found.all.evaluations, found.all.verified.value)


def test_all_rounds_and_the_judge_count() -> None:
    of_debate = {"debate_id": "d", "case_id": "d", "cluster": "d"}
    found = quoted(
        {"verified": 1, **of_debate},
        {"not_found": 1, "round": 1, **of_debate},
        {"elsewhere": 1, "role": "judge", "seat": "judge", "round": 2, **of_debate},
    )

    assert found.judge is not None
    assert (["a"], 1 / 2) == ([one.seat for one in found.seats], found.seats[0].verified.value)
    assert (1.0, 3) == (found.judge.elsewhere.value, found.all.quotations)


def test_intervals_of_quotations_are_over_clusters() -> None:
    rows = [{"verified": number % 3, "not_found": 1, "cluster": f"g{number // 2:02}"} for number in range(40)]

    interval = quoted(*rows).all.verified.interval

    assert interval is not None
    assert ("clustered t", 20) == (interval.method, interval.clusters)
