"""JSON as input files must hold it: no key twice, no NaN, no number beyond a float, no lone surrogate."""

import json
import math
import re
from json import JSONDecodeError
from typing import Any

from jury_judge.text.visible_text import visible_line

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
"""A string, or one that the text's end cuts off: its group is `"` of the former alone. It gives nothing back, so that a
text is read once, however many quotation marks are in it."""
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonRefused(ValueError):
    """The text is not JSON as this module reads it.

    `position` is an index into the text, None when unknown; `open_string` says that a string does not end, and
    `constant` that NaN or an infinity is all that is known to be wrong.
    """

    def __init__(
        self, message: str, position: int | None = None, *, open_string: bool = False, constant: bool = False
    ) -> None:
        super().__init__(message)
        self.position = position
        self.open_string = open_string
        self.constant = constant


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonRefused(f"the key {visible_line(repr(twice), 80)} is twice in one object; keep one of them")
    return found


def _constant(word: str) -> Any:
    raise JsonRefused(f"{word} is not JSON; write null or a number", constant=True)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonRefused(f"the number {visible_line(digits, 40)} is too large; write it as text")
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite)
_null_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: None, parse_float=_finite)


def skip_space(text: str, start: int) -> int:
    """The index of the first character at or after `start` that is not JSON white space."""
    found = _SPACE.match(text, start)
    return found.end() if found else start


def decode_value(text: str, start: int, *, before: int = 0, nan_as_null: bool = False) -> tuple[Any, int]:
    """The JSON value that begins at `start` (no white space before it), and the index after it.

    Args:
        text: holds the value.
        start: where it begins.
        before: how many characters of the first line of `text` are missing from it, for the column in a message.
        nan_as_null: NaN and the infinities are read as None instead of refused.

    Raises:
        JsonRefused: there is none, or it holds what is refused.
    """
    try:
        value, end = (_null_decoder if nan_as_null else _decoder).raw_decode(text, start)
    except JSONDecodeError as error:
        column = error.colno + (before if error.lineno == 1 else 0)
        message = f"not JSON: {error.msg.removesuffix(' at')} at column {column}"
        raise JsonRefused(message, error.pos, open_string=error.msg.startswith("Unterminated string")) from error
    except RecursionError as error:
        raise JsonRefused("nested too deeply; a case needs a few levels only") from error
    except JsonRefused:
        raise
    except ValueError as error:
        raise JsonRefused("a whole number with thousands of digits; write it as text") from error
    if _SURROGATE_ESCAPE.search(text, start, end):
        _refuse_lone_surrogates(value)
    return value, end


def decode_text(text: str, *, nan_as_null: bool = False) -> Any:
    """The one JSON value that `text` is; `nan_as_null` as in `decode_value`.

    Raises:
        JsonRefused: it is none, or more than one, or holds what is refused.
    """
    value, end = decode_value(text, skip_space(text, 0), nan_as_null=nan_as_null)
    rest = skip_space(text, end)
    if rest != len(text):
        raise JsonRefused("more text after the JSON value; write one object a line, or a list of objects", rest)
    return value


def is_cut_short(text: str) -> bool:
    """Whether `text` ends inside an object, a list or a string."""
    bare = _STRING.sub(_mark, text)
    return '"' in bare or sum(map(bare.count, "{[")) > sum(map(bare.count, "}]"))


def ends_inside_string(text: str) -> bool:
    """Whether a string that begins in `text` does not end in it."""
    return any(found.group(1) != '"' for found in _STRING.finditer(text))


def _mark(found: re.Match[str]) -> str:
    """Nothing for a string, a quotation mark for one that does not end."""
    return "" if found.group(1) == '"' else '"'


def _refuse_lone_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False, check_circular=False).encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise JsonRefused(f"the escape \\u{code:04x} is half a character; write the character itself") from error
    except RecursionError as error:
        raise JsonRefused("nested too deeply; a case needs a few levels only") from error
