"""The bodies of events as plain values, for projections."""

import json
from typing import Any

from pydantic_core import from_json


def decoded(body: bytes) -> Any:
    """The values of a JSON body; where it is none, the error of the standard library.

    Raises:
        ValueError, RecursionError: it is not JSON.
    """
    try:
        return from_json(body)  # takes less than half as long as the standard library
    except ValueError:
        return json.loads(body)  # knows surrogates and other encodings, and its errors stand in rows
