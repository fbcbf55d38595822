"""Lines of results: kept as they were sent, read with a bound, and an error each of its own."""

import io
import json

import pytest

from jury_providers import result_lines
from jury_providers.batches.documents import members
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
