"""A strict reader of JSON text (RFC 8259) that says why it refuses.

The standard library's reader takes the last of two equal keys, NaN and lone surrogates, recurses as deep as the text
does, and words its errors differently from version to version; a refusal is part of what a model is shown, so it must
not change with the interpreter.
"""

import json
import math
import re
from typing import Any, NamedTuple, NoReturn

from jury_events.outcome import RefusalReason

MAX_DEPTH = 16
MAX_NUMBER = 64
"""Characters of one number."""

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CUT_NUMBER = re.compile(r"(?:\.|[eE][+-]?)\Z")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_CUT_HEX = re.compile(r"[0-9a-fA-F]{0,3}\Z")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_NON_NUMBERS = ("NaN", "Infinity", "-Infinity")


class Unreadable(Exception):
    """The text is not what it must be.

    `reason` says which rule it breaks, `detail` where, in one English line that quotes nothing.
    """

    def __init__(self, reason: RefusalReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Read(NamedTuple):
    """One decoded value; the text goes on at index `end`."""

    value: Any
    end: int


def skip_space(text: str, at: int) -> int:
    """The index of the first character from `at` on that is not JSON white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def read_value(text: str, at: int) -> Read:
    """The JSON value that begins exactly at index `at`. Numbers are floats; objects keep their keys' order.

    Raises:
        Unreadable: TOO_DEEP, DUPLICATE_KEY, LONE_SURROGATE, NUL, NOT_A_NUMBER, HUGE_NUMBER, INCOMPLETE or NOT_JSON.
    """
    quick = _quick(text, at)
    return _value(text, at, 0) if quick is None else quick


def read_whole(text: str) -> Any:
    """The one JSON value that `text` is, white space around it allowed.

    Raises:
        Unreadable: as `read_value`, and NOT_JSON when something follows.
    """
    value, end = read_value(text, skip_space(text, 0))
    rest = skip_space(text, end)
    if rest < len(text):
        _refuse(RefusalReason.NOT_JSON, "more text after the value", rest)
    return value


class _NotPlain(Exception):
    """The standard library's reader met something that this one has to look at itself."""


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotPlain
    return members


def _plain_number(digits: str) -> float:
    number = float(digits)
    if len(digits) > MAX_NUMBER or math.isinf(number):
        raise _NotPlain
    return number


def _no_constant(_word: str) -> NoReturn:
    raise _NotPlain


_decoder = json.JSONDecoder(
    object_pairs_hook=_plain_object, parse_float=_plain_number, parse_int=_plain_number, parse_constant=_no_constant
)


def _quick(text: str, at: int) -> Read | None:
    """A plain object, read twenty times as fast by the standard library; None for whatever may have to be refused.

    Plain: no deeper than allowed, no `\\u` escape, and nothing at which the library's reader stops.
    """
    if text[at : at + 1] != "{" or "\\u" in text or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    try:
        value, end = _decoder.raw_decode(text, at)
    except (ValueError, _NotPlain):
        return None
    return Read(value, end)


def _refuse(reason: RefusalReason, what: str, at: int) -> NoReturn:
    raise Unreadable(reason, f"{what} (character {at + 1})")


def _broken(text: str, at: int, expected: str) -> NoReturn:
    if at >= len(text):
        _refuse(RefusalReason.INCOMPLETE, f"the text ends where {expected} should be", at)
    _refuse(RefusalReason.NOT_JSON, f"{expected} should be here", at)


def _value(text: str, at: int, depth: int) -> Read:
    first = text[at : at + 1]
    if first == '"':
        return _string(text, at)
    if first in {"{", "["} and depth == MAX_DEPTH:
        _refuse(RefusalReason.TOO_DEEP, f"nested more than {MAX_DEPTH} levels deep", at)
    if first == "{":
        return _object(text, at, depth + 1)
    if first == "[":
        return _array(text, at, depth + 1)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> Read:
    for word, meaning in _WORDS.items():
        if text.startswith(word, at):
            return Read(meaning, at + len(word))
    for word in _NON_NUMBERS:
        if text.startswith(word, at):
            _refuse(RefusalReason.NOT_A_NUMBER, f"{word} is not a JSON number", at)
    number = _NUMBER.match(text, at)
    if number is None:
        rest = text[at : at + len("-Infinity")]
        if rest and any(word.startswith(rest) for word in (*_WORDS, *_NON_NUMBERS)):
            _broken(text, len(text), "the rest of a value")
        _broken(text, at, "a value")
    if _CUT_NUMBER.match(text, number.end()):
        _broken(text, len(text), "the rest of a number")
    digits = number.group()
    if len(digits) > MAX_NUMBER:
        _refuse(RefusalReason.HUGE_NUMBER, f"a number of {len(digits)} characters", at)
    result = float(digits)
    if math.isinf(result):
        _refuse(RefusalReason.HUGE_NUMBER, "a number too large to be held", at)
    return Read(result, number.end())


def _object(text: str, at: int, depth: int) -> Read:
    members: dict[str, Any] = {}
    at = skip_space(text, at + 1)
    if text[at : at + 1] == "}":
        return Read(members, at + 1)
    while True:
        if text[at : at + 1] != '"':
            _broken(text, at, "a key in double quotes")
        key_at = at
        key, at = _string(text, at)
        if key in members:
            _refuse(RefusalReason.DUPLICATE_KEY, "a key that its object has already", key_at)
        at = skip_space(text, at)
        if text[at : at + 1] != ":":
            _broken(text, at, "a colon")
        members[key], at = _value(text, skip_space(text, at + 1), depth)
        at = skip_space(text, at)
        mark = text[at : at + 1]
        if mark == "}":
            return Read(members, at + 1)
        if mark != ",":
            _broken(text, at, "a comma or }")
        at = skip_space(text, at + 1)


def _array(text: str, at: int, depth: int) -> Read:
    items: list[Any] = []
    at = skip_space(text, at + 1)
    if text[at : at + 1] == "]":
        return Read(items, at + 1)
    while True:
        item, at = _value(text, at, depth)
        items.append(item)
        at = skip_space(text, at)
        mark = text[at : at + 1]
        if mark == "]":
            return Read(items, at + 1)
        if mark != ",":
            _broken(text, at, "a comma or ]")
        at = skip_space(text, at + 1)


def _string(text: str, at: int) -> Read:
    pieces: list[str] = []
    at += 1
    while True:
        plain = _PLAIN.match(text, at)
        if plain is not None:
            pieces.append(plain.group())
            at = plain.end()
        mark = text[at : at + 1]
        if mark == '"':
            return Read("".join(pieces), at + 1)
        if mark == "\\":
            piece, at = _escape(text, at)
            pieces.append(piece)
        elif mark == "":
            _broken(text, at, "the end of a string")
        else:
            _refuse(
                RefusalReason.NOT_JSON, f"a raw control character U+{ord(mark):04X} in a string; escape it as JSON", at
            )


def _escape(text: str, at: int) -> tuple[str, int]:
    letter = text[at + 1 : at + 2]
    if letter in _ESCAPES:
        return _ESCAPES[letter], at + 2
    if letter != "u":
        _broken(text, at + 1, "an escape that JSON knows")
    unit = _unit(text, at)
    if unit == 0:
        _refuse(RefusalReason.NUL, "the escaped character U+0000", at)
    if not 0xD800 <= unit <= 0xDFFF:  # noqa: PLR2004  (the surrogates)
        return chr(unit), at + 6
    if unit <= 0xDBFF:  # noqa: PLR2004
        rest = text[at + 6 : at + 8]
        if len(rest) < len("\\u") and "\\u".startswith(rest):
            _broken(text, len(text), "the rest of a surrogate pair")
        if rest == "\\u":
            low = _unit(text, at + 6)
            if 0xDC00 <= low <= 0xDFFF:  # noqa: PLR2004
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12
    _refuse(RefusalReason.LONE_SURROGATE, f"the lone surrogate U+{unit:04X}", at)


def _unit(text: str, at: int) -> int:
    digits = _HEX.match(text, at + 2)
    if digits is None:
        _broken(text, len(text) if _CUT_HEX.match(text, at + 2) else at + 2, "four hexadecimal digits")
    return int(digits.group(), 16)
