"""Shares of the results of quotations, against figures that were worked out by hand."""

from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import EVIDENCE, OURS, SCHEMA, QuotationShares, Scale, check, quotation_shares
from support.each_row import each_row

S, R, U = OURS.categories


def table(*rows: dict[str, Any]) -> pa.Table:
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


def shares(*rows: dict[str, Any], scale: Scale = OURS) -> QuotationShares:
    found = quotation_shares(table(*rows), scale)
    assert found is not None
    return found


def test_the_unit_of_the_share_is_the_quotation() -> None:
    (seat,) = shares({"verified": 3, "normalised": 1}, {"not_found": 1, "elsewhere": 1}).seats

    assert (6, 2) == (seat.quotations, seat.evaluations)
    assert [pytest.approx(one) for one in (1 / 2, 1 / 6, 1 / 6, 1 / 6)] == [
        one.value for one in (seat.verified, seat.normalised, seat.elsewhere, seat.not_found)
    ]
    assert 6 == seat.verified.n


def test_a_failing_verdict_is_supported_by_a_verified_or_a_normalised_quotation() -> None:
    (seat,) = shares(
        {"verified": 1}, {"normalised": 1}, {"elsewhere": 2}, {"not_found": 1}, {}, {"verdict": R}, {"verdict": S}
    ).seats

    assert (5, 3 / 5) == (seat.failing, seat.unsupported.value)


def test_where_nothing_is_quoted_there_is_no_share() -> None:
    (seat,) = shares({}).seats

    assert (1, 0, "nothing is quoted") == (seat.evaluations, seat.quotations, seat.verified.reason)


@each_row("kind", ["stale", "synthetic"])
def test_votes_that_are_not_the_seats_own_do_not_count(kind: str) -> None:
    found = shares({"verified": 1}, {"not_found": 1, "kind": kind})

    assert (1, 1.0) == (found.all.evaluations, found.all.verified.value)


def test_all_rounds_and_the_judge_count() -> None:
    of_debate = {"debate_id": "d", "case_id": "d", "cluster": "d"}
    found = shares(
        {"verified": 1, **of_debate},
        {"not_found": 1, "round": 1, **of_debate},
        {"elsewhere": 1, "role": "judge", "seat": "judge", "round": 2, **of_debate},
    )

    assert found.judge is not None
    assert (["a"], 1 / 2) == ([one.seat for one in found.seats], found.seats[0].verified.value)
    assert (1.0, 3) == (found.judge.elsewhere.value, found.all.quotations)


def test_intervals_are_over_clusters() -> None:
    rows = [{"verified": number % 3, "not_found": 1, "cluster": f"g{number // 2:02}"} for number in range(40)]

    interval = shares(*rows).all.verified.interval

    assert interval is not None
    assert ("clustered t", 20) == (interval.method, interval.clusters)
