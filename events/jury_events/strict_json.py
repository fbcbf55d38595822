"""JSON read strictly: no key twice, no NaN, no number beyond a float, no lone surrogate.

Depth and numbers are limited too. The reader's messages do not depend on the interpreter's version: they are part of
recorded prompts, so they never change.
"""

import json
import math
import re
from json import JSONDecodeError
from typing import Any, NamedTuple, NoReturn

from jury_events.outcome import RefusalReason
from jury_events.text import visible_line

_SPACE = re.compile(r"[ \t\r\n]*")
_WHITE = frozenset(" \t\r\n")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CUT_NUMBER = re.compile(r"(?:\.|[eE][+-]?)\Z")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_CUT_HEX = re.compile(r"[0-9a-fA-F]{0,3}\Z")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_NON_NUMBERS = ("NaN", "Infinity", "-Infinity")
_LONGEST_TOKEN = 16
"""Characters. An error this close to the end may be a word, number or escape that continues after it."""


class InvalidJson(ValueError):
    """The text is not JSON as the reader accepts it.

    `reason` names the broken rule, `what` says in one English line what is wrong and quotes nothing of the text,
    `position` is the index where.
    """

    def __init__(self, reason: RefusalReason, what: str, position: int) -> None:
        super().__init__(f"{what} (character {position + 1})")
        self.reason = reason
        self.what = what
        self.position = position


class JsonCut(Exception):
    """The value may continue after the end of the text."""


class Read(NamedTuple):
    """One decoded value; the text goes on at index `end`."""

    value: Any
    end: int


def skip_space(text: str, at: int) -> int:
    """The index of the first character from `at` on that is not JSON white space."""
    if text[at : at + 1] not in _WHITE:
        return at
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _NotPlain(Exception):
    """The standard library's reader found something that only the exact reader can refuse."""


def _plain_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotPlain
    return members


def _refuse(reason: RefusalReason, what: str, at: int) -> NoReturn:
    raise InvalidJson(reason, what, at)


def _broken(text: str, at: int, expected: str) -> NoReturn:
    if at >= len(text):
        _refuse(RefusalReason.INCOMPLETE, f"the text ends where {expected} should be", at)
    _refuse(RefusalReason.NOT_JSON, f"{expected} should be here", at)


def _unit(text: str, at: int) -> int:
    digits = _HEX.match(text, at + 2)
    if digits is None:
        _broken(text, len(text) if _CUT_HEX.match(text, at + 2) else at + 2, "four hexadecimal digits")
    return int(digits.group(), 16)


class JsonReader:
    """A strict reader. Objects keep the order of their keys.

    Args:
        max_depth: levels of objects and lists; None: as many as the interpreter can.
        max_number: characters of one number; None: as many as the interpreter converts.
        integers: whole numbers become `int`; else every number is a float.
        nul: accept the escaped character U+0000.
        nan_as_null: read NaN and the infinities as None instead of refusing them.
    """

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_number: int | None = None,
        integers: bool = True,
        nul: bool = True,
        nan_as_null: bool = False,
    ) -> None:
        self._max_depth = max_depth
        self._max_number = max_number
        self._integers = integers
        self._nul = nul
        self._nan_as_null = nan_as_null
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_plain_object,
            parse_float=self._plain_float,
            parse_int=None if integers and max_number is None else self._plain_float,
            parse_constant=self._plain_constant,
        )

    def value(self, text: str, at: int, *, partial: bool = False) -> Read:
        """The JSON value that begins exactly at index `at`.

        Args:
            at: where it begins.
            partial: more text may follow.
        """
        quick = self._quick(text, at, partial=partial)
        if quick is not None:
            return quick
        try:
            return self._value(text, at, 0)
        except RecursionError:
            raise InvalidJson(RefusalReason.TOO_DEEP, "nested too deeply", at) from None
        except InvalidJson as error:
            if partial and error.reason is RefusalReason.INCOMPLETE:
                raise JsonCut from error
            raise

    def whole(self, text: str) -> Any:
        """The one JSON value that `text` is, white space around it allowed."""
        value, end = self.value(text, skip_space(text, 0))
        rest = skip_space(text, end)
        if rest < len(text):
            raise InvalidJson(RefusalReason.NOT_JSON, "more text after the value", rest)
        return value

    def _quick(self, text: str, at: int, *, partial: bool) -> Read | None:
        """The value as the standard library reads it, twenty times as fast; None if it may have to be refused."""
        if text[at : at + 1] not in {"{", "[", '"'} or (not self._nul and "\\u0000" in text):
            return None
        if self._max_depth is not None and text.count("{") + text.count("[") > self._max_depth:
            return None
        try:
            value, end = self._decoder.raw_decode(text, at)
            if _SURROGATE_ESCAPE.search(text, at, end):
                json.dumps(value, ensure_ascii=False, check_circular=False).encode("utf-8")
        except JSONDecodeError as error:
            if partial and (error.msg.startswith("Unterminated string") or error.pos >= len(text) - _LONGEST_TOKEN):
                raise JsonCut from error
            return None
        except (ValueError, RecursionError, _NotPlain):
            return None
        return Read(value, end)

    def _plain_float(self, digits: str) -> float:
        number = float(digits)
        if (self._max_number is not None and len(digits) > self._max_number) or math.isinf(number):
            raise _NotPlain
        return number

    def _plain_constant(self, _word: str) -> None:
        if not self._nan_as_null:
            raise _NotPlain

    def _value(self, text: str, at: int, depth: int) -> Read:
        first = text[at : at + 1]
        if first == '"':
            return self._string(text, at)
        if first in {"{", "["} and depth == self._max_depth:
            _refuse(RefusalReason.TOO_DEEP, f"nested more than {self._max_depth} levels deep", at)
        if first == "{":
            return self._object(text, at, depth + 1)
        if first == "[":
            return self._array(text, at, depth + 1)
        return self._scalar(text, at)

    def _scalar(self, text: str, at: int) -> Read:
        for word, meaning in _WORDS.items():
            if text.startswith(word, at):
                return Read(meaning, at + len(word))
        for word in _NON_NUMBERS:
            if text.startswith(word, at):
                if self._nan_as_null:
                    return Read(None, at + len(word))
                _refuse(RefusalReason.NOT_A_NUMBER, f"{word} is not a JSON number", at)
        number = _NUMBER.match(text, at)
        if number is None:
            rest = text[at : at + len("-Infinity")]
            if rest and any(word.startswith(rest) for word in (*_WORDS, *_NON_NUMBERS)):
                _broken(text, len(text), "the rest of a value")
            _broken(text, at, "a value")
        if _CUT_NUMBER.match(text, number.end()):
            _broken(text, len(text), "the rest of a number")
        return Read(self._number(number.group(), at), number.end())

    def _number(self, digits: str, at: int) -> float:
        if self._max_number is not None and len(digits) > self._max_number:
            _refuse(RefusalReason.HUGE_NUMBER, f"a number of {len(digits)} characters", at)
        if self._integers and digits.removeprefix("-").isdigit():
            try:
                return int(digits)
            except ValueError:
                _refuse(RefusalReason.HUGE_NUMBER, f"a number of {len(digits)} characters", at)
        result = float(digits)
        if math.isinf(result):
            _refuse(RefusalReason.HUGE_NUMBER, "a number too large for a float", at)
        return result

    def _object(self, text: str, at: int, depth: int) -> Read:
        members: dict[str, Any] = {}
        at = skip_space(text, at + 1)
        if text[at : at + 1] == "}":
            return Read(members, at + 1)
        while True:
            if text[at : at + 1] != '"':
                _broken(text, at, "a key in double quotes")
            key_at = at
            key, at = self._string(text, at)
            if key in members:
                _refuse(RefusalReason.DUPLICATE_KEY, "a key that its object has already", key_at)
            at = skip_space(text, at)
            if text[at : at + 1] != ":":
                _broken(text, at, "a colon")
            members[key], at = self._value(text, skip_space(text, at + 1), depth)
            at = skip_space(text, at)
            mark = text[at : at + 1]
            if mark == "}":
                return Read(members, at + 1)
            if mark != ",":
                _broken(text, at, "a comma or }")
            at = skip_space(text, at + 1)

    def _array(self, text: str, at: int, depth: int) -> Read:
        items: list[Any] = []
        at = skip_space(text, at + 1)
        if text[at : at + 1] == "]":
            return Read(items, at + 1)
        while True:
            item, at = self._value(text, at, depth)
            items.append(item)
            at = skip_space(text, at)
            mark = text[at : at + 1]
            if mark == "]":
                return Read(items, at + 1)
            if mark != ",":
                _broken(text, at, "a comma or ]")
            at = skip_space(text, at + 1)

    def _string(self, text: str, at: int) -> Read:
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
                piece, at = self._escape(text, at)
                pieces.append(piece)
            elif mark == "":
                _broken(text, at, "the end of a string")
            else:
                _refuse(
                    RefusalReason.NOT_JSON,
                    f"a raw control character U+{ord(mark):04X} in a string; escape it as JSON",
                    at,
                )

    def _escape(self, text: str, at: int) -> tuple[str, int]:
        letter = text[at + 1 : at + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], at + 2
        if letter != "u":
            _broken(text, at + 1, "an escape that JSON knows")
        unit = _unit(text, at)
        if unit == 0 and not self._nul:
            _refuse(RefusalReason.NUL, "the escaped character U+0000", at)
        if not 0xD800 <= unit <= 0xDFFF:  # noqa: PLR2004  (the surrogates)
            return chr(unit), at + 6
        if unit <= 0xDBFF:  # noqa: PLR2004  (the surrogates)
            rest = text[at + 6 : at + 8]
            if len(rest) < len("\\u") and "\\u".startswith(rest):
                _broken(text, len(text), "the rest of a surrogate pair")
            if rest == "\\u":
                low = _unit(text, at + 6)
                if 0xDC00 <= low <= 0xDFFF:  # noqa: PLR2004  (the surrogates)
                    return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12
        _refuse(RefusalReason.LONE_SURROGATE, f"the lone surrogate U+{unit:04X}", at)


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
        start: where it begins.
        before: how many characters of the first line of `text` are missing from it, for the column in a message.
        nan_as_null: NaN and the infinities are read as None instead of refused.
        partial: more text may follow.
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
    """The one JSON value that `text` is; `nan_as_null` as in `decode_value`."""
    start = 0 if text.startswith("{") else skip_space(text, 0)
    value, end = decode_value(text, start, nan_as_null=nan_as_null)
    rest = skip_space(text, end)
    if rest != len(text):
        message = "more text after the JSON value; write one object a line, or a list of objects"
        if "\r" in text[end:rest]:
            message = "lines end with a carriage return alone; save the file with line feeds"
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


MODEL_JSON = JsonReader(max_depth=16, max_number=64, integers=False, nul=False)
