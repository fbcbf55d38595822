"""Canonical JSON: keys sorted by code point, no white space, UTF-8, no NaN, and no field that is None.

A field of a value object that is None is left out, so that a new optional field changes no recorded bytes. None in
data, as in the metadata of a case, is written. Bodies are encoded once and hashed as stored; stored bytes are never
canonicalised again.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
from pydantic import BaseModel

from jury_events.errors import EventError
from jury_events.parts import PartRef


def _members(value: Any) -> dict[str, Any]:
    found = {}
    for name, one in value.__dict__.items():  # a comprehension would be one more call for each value object
        if one is not None:
            found[name] = one  # noqa: PERF403
    return found


_encoded: dict[type, tuple[object, orjson.Fragment]] = {}
"""By each type that is `encoded_once`: the last value of it, and its bytes."""


def _encoded_once(value: Any) -> Any:
    """What a value is written as: its members, or its bytes, if it is one that is the same in many events."""
    if not value.encoded_once:
        return _members(value)
    kind, (last, written) = type(value), _encoded.get(type(value), (None, None))
    if last is not value or written is None:
        written = orjson.Fragment(orjson.dumps(_members(value), _members, _QUICK))
        _encoded[kind] = (value, written)
    return written


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, BaseModel | PartRef):
        return _members(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False, default=_fields
).encode

_QUICK = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME

_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LONG = b"0" * 19
_SMALL = b"0.0000"
"""How orjson begins a number that Python writes with an exponent (`1e-05`)."""

_DIFFERENT = re.compile(rb"[:\[,]-?(?:0+(?:\.0+)?e|0{19}|0\.0000)")
"""A number that the two may write differently, with 0 for every digit."""

MAX_WHOLE = 2**63 - 1
"""The largest integer that every database stores; the smallest is its negative."""


def canonical_json(value: Any) -> bytes:
    """`value` as canonical bytes: decoded JSON, or value objects of strings, numbers, enums of strings and tuples.

    Value objects are read field by field: the bytes are those of `model_dump(mode="json", exclude_none=True)`, in a
    tenth of its time. Their `model_serializer` is not called. `bytes` are refused.
    """
    if isinstance(value, BaseModel) and (quick := encoded_quickly(value)) is not None:
        return quick
    try:
        return _encode(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise EventError(
            f"text contains the lone surrogate U+{ord(error.object[error.start]):04X} at index {error.start}; "
            "JSON text must be valid Unicode"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise EventError(f"cannot be written as JSON: {error}") from error


def encoded_quickly(value: BaseModel | dict[str, Any]) -> bytes | None:
    """The canonical bytes of a validated value, or of its dump, by orjson, in a fifth of the time.

    None: `canonical_json` is needed.

    The two write exponents and small numbers differently, and integers beyond `MAX_WHOLE` have to be refused. Only
    validated values contain no NaN, which orjson writes as null. What orjson refuses, the standard library refuses
    with its own message, or writes.
    """
    try:
        body = orjson.dumps(value, _encoded_once, _QUICK)
    except TypeError:
        return None
    # With 0 for every digit, numbers of a given form are found by plain search, which costs less than an expression.
    zeros = body.translate(_ZEROS)
    may_differ = _LONG in zeros or b"0e0" in zeros or b"0e-0" in zeros or b"0e+0" in zeros or _SMALL in body
    # Every sixth body has one of them in a digest. A text may have them behind a colon: it only takes longer.
    return None if may_differ and _DIFFERENT.search(zeros) else body


def has_long_number(body: bytes) -> bool:
    """Whether a number of 19 digits or more may be in a body: one that may be beyond `MAX_WHOLE`."""
    return _LONG in body.translate(_ZEROS)


def numbers_in(value: Any) -> Iterator[int]:
    """Every integer in decoded JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
