"""The members of a JSON object as the bytes that they stand in: what a provider sent is kept as it was sent."""

import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


class JsonMember(NamedTuple):
    """A member's value, and the text that it was read from."""

    value: Any
    text: str


def members(text: str) -> Mapping[str, JsonMember]:
    """The members of the JSON object in `text`; of two with the same name, the last."""
    found: dict[str, JsonMember] = {}
    at = _after(text, "{", _spaces(text, 0))
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            name, at = _DECODER.raw_decode(text, at)
            if not isinstance(name, str):
                raise ValueError("a member has no name")  # noqa: TRY004  (of JSON, not of Python)
            start = _spaces(text, _after(text, ":", _spaces(text, at)))
            value, end = _DECODER.raw_decode(text, start)
            found[name] = JsonMember(value, text[start:end])
            at = _spaces(text, end)
            if text[at : at + 1] == "}":
                at += 1
                break
            at = _spaces(text, _after(text, ",", at))
    if _spaces(text, at) != len(text):
        raise ValueError("there is more after the object")
    return found


def _spaces(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _after(text: str, character: str, at: int) -> int:
    """The index after `character`, and the spaces that follow an opening brace."""
    if text[at : at + 1] != character:
        raise ValueError(f"expected {character!r} at character {at}")
    return _spaces(text, at + 1) if character == "{" else at + 1
