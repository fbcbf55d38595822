"""What providers say of batches: lines kept as sent and read with a bound, ids and times that a log can have."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from jury_providers import BatchUnavailable, result_lines
from jury_providers.batches.documents import identity_in, members, time_of
from support.each_row import each_row


def test_members_are_the_texts_that_they_stand_in() -> None:
    text = '{ "custom_id" : "a", "response": {"n": 1.50, "u": "\\u00e9",  "x": [ ]} , "error":null}'
    found = members(text)

    assert {"custom_id": '"a"', "response": '{"n": 1.50, "u": "\\u00e9",  "x": [ ]}', "error": "null"} == {
        name: member.text for name, member in found.items()
    }
    assert json.loads(text) == {name: member.value for name, member in found.items()}


def test_of_two_members_with_one_name_the_last_counts() -> None:
    assert "2" == members('{"a": 1, "a": 2}')["a"].text


def test_an_object_may_be_empty() -> None:
    assert {} == members(" { } ")


@each_row(
    "text", ["", "[]", "7", '"a"', "{", '{"a"}', '{"a":}', '{"a":1', '{"a":1,}', '{"a":1}x', "{1:2}", '{"a" 1}', "null"]
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        members(text)


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises((ValueError, RecursionError)):
        members('{"a":' + "[" * 200_000 + "]" * 200_000 + "}")


def test_empty_lines_are_no_lines() -> None:
    assert [b"a", b"b"] == [line.data for line in result_lines(io.BytesIO(b"a\r\n\n  \nb"))]


@each_row("length", [11, 25, 30, 31])
def test_a_line_that_is_too_long_is_passed_over(length: int) -> None:
    file = io.BytesIO(b"first\n" + b"x" * length + b"\nlast\n")

    assert [b"first", None, b"last"] == [line.data for line in result_lines(file, 10)]


def test_a_line_of_the_longest_length_is_read() -> None:
    assert [b"x" * 10, b"y"] == [line.data for line in result_lines(io.BytesIO(b"x" * 10 + b"\ny\n"), 10)]


def test_the_last_line_may_be_too_long_and_have_no_end() -> None:
    assert [b"a", None] == [line.data for line in result_lines(io.BytesIO(b"a\n" + b"x" * 50), 10)]


@each_row("name", ["i" * 5_000_000, "a\nb", "", None, 7, {"id": "x"}])
def test_an_id_that_is_none_is_refused_in_one_short_line(name: object) -> None:
    with pytest.raises(BatchUnavailable, match="id of the batch") as refused:
        identity_in({"id": name}, "id", "batch")

    assert len(str(refused.value)) < 200
    assert 1 == len(str(refused.value).splitlines())


def test_an_id_is_kept_as_it_is() -> None:
    assert "batch_1" == identity_in({"id": "batch_1"}, "id", "batch")


@each_row(
    "value",
    [
        *(2**62, -(2**62), 10**400, float("nan"), float("inf"), 1e300, -1, True, None, [], "soon", "9" * 5000),
        *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", 253_402_300_799),
    ],
)
def test_a_time_that_is_none_is_not_known(value: object) -> None:
    assert time_of(value) is None


@each_row(
    ("value", "expected"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-11-28T01:00:00+02:00", datetime(2026, 11, 27, 23, tzinfo=UTC)),
        ("2026-11-28T01:00:00", datetime(2026, 11, 28, 1, tzinfo=UTC)),
        ("9999-11-30T00:00:00Z", datetime(9999, 11, 30, tzinfo=UTC)),
    ],
)
def test_one_may_reckon_with_a_time(value: object, expected: datetime) -> None:
    found = time_of(value)

    assert expected == found
    assert expected + timedelta(days=1) > expected
