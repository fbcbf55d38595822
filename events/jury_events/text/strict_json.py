"""JSON as input files must hold it: no key twice, no NaN, no number beyond a float, no lone surrogate."""

import re
from typing import Any

from jury_events.outcome import RefusalReason
from jury_events.strict_json import InvalidJson, JsonReader, skip_space
from jury_events.text.visible_text import visible_line

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
"""A string, or one that the text's end cuts off: its group is `"` of the former alone. It gives nothing back, so that a
text is read once, however many quotation marks are in it."""
_READER = JsonReader()
_NULL_READER = JsonReader(nan_as_null=True)


class JsonRefused(ValueError):
    """The text is not JSON that an input file may contain; `reason` names the rule, `position` is an index."""

    def __init__(self, message: str, reason: RefusalReason, position: int) -> None:
        super().__init__(message)
        self.reason = reason
        self.position = position


def decode_value(
    text: str, start: int, *, before: int = 0, nan_as_null: bool = False, partial: bool = False
) -> tuple[Any, int]:
    """The JSON value that begins at `start` (no white space before it), and the index after it.

    Args:
        text: contains the value.
        start: where it begins.
        before: how many characters of the first line of `text` are missing from it, for the column in a message.
        nan_as_null: NaN and the infinities are read as None instead of refused.
        partial: more text may follow.

    Raises:
        JsonRefused: there is none, or it contains what is refused.
        JsonCut: a `partial` text may end inside of the value.
    """
    try:
        return (_NULL_READER if nan_as_null else _READER).value(text, start, partial=partial)
    except InvalidJson as error:
        raise JsonRefused(_message(error, text, before), error.reason, error.position) from error


def _message(error: InvalidJson, text: str, before: int) -> str:
    at = error.position
    match error.reason:
        case RefusalReason.DUPLICATE_KEY:
            key = visible_line(repr(_READER.value(text, at).value), 80)
            return f"the key {key} is twice in one object; keep one of them"
        case RefusalReason.NOT_A_NUMBER:
            return f"{error.what.split()[0]} is not JSON; write null or a number"
        case RefusalReason.HUGE_NUMBER:
            return f"{error.what}; write it as text"
        case RefusalReason.LONE_SURROGATE:
            return f"the escape {text[at : at + 6]} is half a character; write the character itself"
        case RefusalReason.TOO_DEEP:
            return "nested too deeply; a case needs a few levels only"
        case _:
            begin = text.rfind("\n", 0, at) + 1
            return f"not JSON: {error.what} (column {at - begin + 1 + (0 if begin else before)})"


def decode_text(text: str, *, nan_as_null: bool = False) -> Any:
    """The one JSON value that `text` is; `nan_as_null` as in `decode_value`.

    Raises:
        JsonRefused: it is none, or more than one, or holds what is refused.
    """
    start = 0 if text.startswith("{") else skip_space(text, 0)
    value, end = decode_value(text, start, nan_as_null=nan_as_null)
    rest = skip_space(text, end)
    if rest != len(text):
        message = "more text after the JSON value; write one object a line, or a list of objects"
        raise JsonRefused(message, RefusalReason.NOT_JSON, rest)
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
