"""The quick way of reading an object gives what the careful one gives, or leaves it to that."""

import json

from hypothesis import given
from hypothesis import strategies as st

from jury_debate.rules_v1 import json_text
from jury_debate.rules_v1.json_text import Unreadable, read_value

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
        st.sampled_from(["", "{", "}", '"', ",", "NaN", "1e400", "\\", "\\u0000", "\n", "\x00", "]", ":", '"a":1,'])
    )
    return text[:at] + piece + text[at + draw(st.integers(0, 3)) :]


def reading(read, text):
    try:
        return read(text)
    except Unreadable as error:
        return error.reason, error.detail


@given(texts | spoilt())
def test_both_ways_of_reading_agree(text: str) -> None:
    careful = reading(lambda text: json_text._value(text, 0, 0), text)

    assert careful == reading(lambda text: read_value(text, 0), text)


def test_the_quick_way_is_taken_for_an_ordinary_answer() -> None:
    assert json_text._quick('{"verdict": "safe_pass", "scores": {"safety": 8}}', 0) is not None
