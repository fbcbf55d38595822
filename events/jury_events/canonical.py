"""The one way in which JSON is written: keys sorted by code point, no white space, UTF-8, no NaN.

Bodies are made once and hashed as stored; nothing ever canonicalises stored bytes again.
"""

import json
from typing import Any

from jury_events.errors import EventError

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode


def canonical_json(value: Any) -> bytes:
    """`value` (decoded JSON) as canonical bytes.

    Raises:
        EventError: it holds NaN, an infinity, a lone surrogate, or something that is not JSON.
    """
    try:
        return _encode(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise EventError(
            f"text holds the lone surrogate U+{ord(error.object[error.start]):04X} at index {error.start}; "
            "JSON text must be valid Unicode"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise EventError(f"cannot be written as JSON: {error}") from error
