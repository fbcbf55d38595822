"""Values in decoded JSON of providers, each as what it must be, or nothing."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a JSON list; [] for any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_at(value: Any, *keys: str) -> dict[str, Any]:
    """The object at a path of keys; {} if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text_at(value: Mapping[str, Any], key: str) -> str | None:
    """A non-empty string, else None."""
    found = value.get(key)
    return found if isinstance(found, str) and found else None


_LONGEST_LABEL = 300


def label_at(value: Mapping[str, Any], key: str) -> str | None:
    """A provider's own word as a label; None if there is none, or it is no label."""
    found = text_at(value, key)
    return found if found is not None and found.isprintable() and len(found) <= _LONGEST_LABEL else None


_LENGTH_OF_DATE = len("2026-12-11")


def date_at(value: Mapping[str, Any], key: str) -> date | None:
    """The day of a date or time in ISO form, as it is written; None if there is none."""
    try:
        return date.fromisoformat((text_at(value, key) or "")[:_LENGTH_OF_DATE])
    except ValueError:
        return None


_MOST_TOKENS = 10**9
_DIGITS = 10
"""A larger count is implausible, and could overflow sums of tokens or costs."""


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """A token count, which some servers write as 12.0 or "12"; None if missing or implausible."""
    found = value.get(key)
    if isinstance(found, str) and len(found) <= _DIGITS and found.isascii() and found.isdecimal():
        found = int(found)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    sensible = isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST_TOKENS
    return found if sensible else None


def without_unset(**fields: Any) -> dict[str, Any]:
    """The fields of a request that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_object(data: bytes) -> dict[str, Any] | None:
    """`data` as a JSON object; None if it is not one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
