"""Upcasters: each turns a body of one schema into the next one. Stored bytes never change.

There is none yet: every schema is 1. A field that is new and optional needs none, as canonical JSON leaves out what is
None; a field that is renamed or required does. An upcaster writes out every new field, so that an upcast body is
complete exactly if the stored one is.
"""

from collections.abc import Callable
from typing import Any

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""By (type, schema): the upcaster to schema + 1."""


def upcast(event_type: str, schema: int, target: int, body: dict[str, Any]) -> dict[str, Any]:
    """`body`, upcast from `schema` to `target`.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: it is not a body of its schema.
    """
    for number in range(schema, target):
        body = UPCASTERS[event_type, number](body)
    return body
