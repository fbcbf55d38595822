"""The table of ballots: what is accepted, and the one line that says what is wrong."""

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

from jury_analysis import MESSAGES, SCHEMA, BadBallots, check, decoded
from support.ballot_tables import ballots
from support.each_row import each_row


def rows(**changes: Any) -> pa.Table:
    """Two votes of one debate; `changes` are of the second."""
    first: dict[str, Any] = {
        "debate_id": "r~1",
        "case_id": "1",
        "cluster": "1",
        "repeat": 1,
        "round": 0,
        "role": "juror",
        "seat": "a",
        "kind": "own",
        "verdict": "safe_pass",
        "score": 80.0,
        "confidence": 0.5,
        "label": "safe_pass",
        "simulated": False,
    }
    return pa.Table.from_pylist([first, first | {"seat": "b"} | changes])


def test_missing_columns_that_may_be_null_are_filled() -> None:
    checked = check(rows())

    assert SCHEMA == decoded(checked).schema
    assert [None, None] == checked["run_id"].to_pylist()
    assert ["a", "b"] == checked["seat"].to_pylist()


@each_row(
    ("name", "values", "message"),
    [
        ("decisive_message", [-1, 0], "'decisive_message' is -1 in debate 'r~1', but must be at least 0"),
        ("message_count", [0, 0], "'message_count' is 0 in debate 'r~1', but must be at least 1"),
        ("label_message", [1, 2], "debate 'r~1' has more than one value of 'label_message'"),
        ("outcome_correct", [True, False], "debate 'r~1' has more than one value of 'outcome_correct'"),
    ],
)
def test_columns_of_messages_are_checked(name: str, values: list[Any], message: str) -> None:
    table = rows().append_column(name, pa.array(values))

    with pytest.raises(BadBallots) as caught:
        check(table, (*SCHEMA.names, *MESSAGES.names))

    assert message in str(caught.value)


@each_row(
    ("changes", "message"),
    [
        ({"kind": "abstained"}, "verdict is must be null"),
        ({"verdict": None}, "must be null exactly when abstained"),
        ({"kind": "guessed"}, "must be one of own, stale, synthetic, abstained"),
        ({"role": "bailiff"}, "must be one of juror, judge"),
        ({"score": 101.0}, "'score' is 101.0 in debate 'r~1', but must be 0 to 100"),
        ({"score": float("nan")}, "'score' is nan"),
        ({"confidence": -0.1}, "'confidence' is -0.1"),
        ({"confidence": float("inf")}, "'confidence' is inf"),
        ({"repeat": 0}, "'repeat' is 0 in debate 'r~1', but must be at least 1"),
        ({"round": -1}, "'round' is -1"),
        ({"seat": "a"}, "seat 'a' votes more than once in debate 'r~1', round 0"),
        ({"case_id": "2"}, "debate 'r~1' has more than one value of 'case_id'"),
        ({"cluster": "2"}, "debate 'r~1' has more than one value of 'cluster'"),
        ({"label": "unsafe_fail"}, "debate 'r~1' has more than one value of 'label'"),
        ({"label": None}, "debate 'r~1' has more than one value of 'label'"),
        ({"simulated": True}, "debate 'r~1' has more than one value of 'simulated'"),
        ({"seat": None}, "the column 'seat' is empty in row 2"),
        ({"debate_id": "x" * 500, "score": 101.0}, "…"),
    ],
)
def test_bad_values_are_named_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadBallots) as error:
        check(rows(**changes))

    expected = message.replace("verdict is must", "must")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_missing_and_unknown_columns_are_named() -> None:
    with pytest.raises(BadBallots, match="the ballots lack the column 'seat'"):
        check(rows().drop_columns("seat"))
    with pytest.raises(BadBallots, match="ballots have no column 'verdikt'"):
        check(rows().append_column("verdikt", pa.array(["a", "b"])))


@each_row(
    ("name", "values"),
    [
        ("seat", [1, 2]),
        ("round", ["one", "two"]),
        ("score", ["high", "low"]),
        ("round", [0.5, 1.5]),
        ("repeat", [2**40] * 2),
    ],
)
def test_a_column_of_another_type_is_named(name: str, values: list[Any]) -> None:
    table = rows()

    with pytest.raises(BadBallots, match=f"the column '{name}' must be"):
        check(table.set_column(table.column_names.index(name), name, pa.array(values)))


def test_a_repeated_vote_is_found_among_many() -> None:
    table = ballots([["safe_pass", "unsafe_fail"]] * 1000)

    with pytest.raises(BadBallots, match="seat 'b' votes more than once in debate 'd000321', round 0"):
        check(pa.concat_tables([table, table.slice(643, 1)]))


def test_the_table_needs_no_package_of_the_statistics() -> None:
    program = "import sys, jury_analysis.ballots; sys.exit('scipy' in sys.modules or 'sklearn' in sys.modules)"

    assert 0 == subprocess.run([sys.executable, "-c", program], check=False).returncode
