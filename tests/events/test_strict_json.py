"""The fast path of the reader returns what the exact one returns, or falls back to it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_events import InvalidJson, JsonCut, JsonReader
from support.each_row import each_row

READERS = {
    "of models": JsonReader(max_depth=16, max_number=64, integers=False, nul=False),
    "of files": JsonReader(),
    "of files with NaN": JsonReader(nan_as_null=True),
}

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**70), 10**70)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
texts = st.builds(
    lambda members, indent, ascii_only: json.dumps(members, indent=indent, ensure_ascii=ascii_only),
    st.dictionaries(st.text(max_size=5), values, max_size=4),
    st.sampled_from([None, 2]),
    st.booleans(),
)


@st.composite
def spoilt(draw):
    text = draw(texts)
    at = draw(st.integers(0, len(text)))
    piece = draw(
        st.sampled_from(
            [
                "",
                "{",
                "}",
                '"',
                ",",
                "NaN",
                "1e400",
                "\\",
                "\\u0000",
                "\\ud800",
                "\\ud83d\\ude00",
                "9" * 70,
                "\n",
                "\x00",
                "]",
                ":",
                '"a":1,',
            ]
        )
    )
    return text[:at] + piece + text[at + draw(st.integers(0, 3)) :]


def outcome(read, *arguments):
    try:
        return repr(read(*arguments))
    except InvalidJson as error:
        return error.reason, str(error)


@each_row("reader", READERS.values(), ids=READERS)
@given(text=texts | spoilt())
def test_both_paths_agree(reader: JsonReader, text: str) -> None:
    exact = outcome(reader._value, text, 0, 0)

    assert exact == outcome(reader.value, text, 0)


@each_row("reader", READERS.values(), ids=READERS)
def test_the_fast_path_is_taken_for_an_ordinary_answer(reader: JsonReader) -> None:
    text = '{"verdict": "safe_pass", "scores": {"safety": 8}, "rationale": "\\u3042 \\ud83d\\ude00"}'

    assert reader._quick(text, 0, partial=False) is not None


@each_row("reader", READERS.values(), ids=READERS)
@given(text=texts)
def test_every_beginning_of_a_value_may_continue(reader: JsonReader, text: str) -> None:
    try:
        reader.value(text, 0)
    except InvalidJson:
        return
    for end in {1, len(text) // 2, len(text) - 1}:
        with pytest.raises(JsonCut):
            reader.value(text[:end], 0, partial=True)


def test_numbers_are_read_as_the_reader_is_configured() -> None:
    text = '{"a": 12345678901234567890, "b": 1.5}'

    assert {"a": 12345678901234567890, "b": 1.5} == READERS["of files"].whole(text)
    assert {"a": float, "b": float} == {name: type(value) for name, value in READERS["of models"].whole(text).items()}
