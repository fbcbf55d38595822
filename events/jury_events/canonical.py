"""Canonical JSON: keys sorted by code point, no white space, UTF-8, no NaN.

Bodies are encoded once and hashed as stored; stored bytes are never canonicalised again.
"""

import json
from collections.abc import Iterator
from typing import Any

from jury_events.errors import EventError

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode

MAX_WHOLE = 2**63 - 1
"""The largest integer that every database stores; the smallest is its negative."""


def canonical_json(value: Any) -> bytes:
    """`value` (decoded JSON) as canonical bytes.

    Raises:
        EventError: it contains NaN, an infinity, a lone surrogate, or something that is not JSON.
    """
    try:
        return _encode(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise EventError(
            f"text contains the lone surrogate U+{ord(error.object[error.start]):04X} at index {error.start}; "
            "JSON text must be valid Unicode"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise EventError(f"cannot be written as JSON: {error}") from error


def numbers_in(value: Any) -> Iterator[int]:
    """Every integer in decoded JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
