"""Helpers for decoded JSON values in transcripts: conversion to text, type names for messages."""

import ast
import json
from typing import Any

from jury_cases.errors import CaseFileError


def json_kind(value: Any) -> str:
    """The JSON type (or Python type) of a value, for messages."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def as_text(value: Any) -> str:
    """Text unchanged, null as "", bytes (of a table's cell) decoded, any other value as JSON text."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=as_text)


def decoded_json(value: Any, *, texts: bool = False) -> Any:
    """JSON text of a list or object (with `texts`: or a string) decoded; any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ({"[", "{", '"'} if texts else {"[", "{"}):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


_LONGEST_PRINTED = 4 << 20


def python_value(text: str) -> Any:
    """The list or object that a text is as Python prints it, as tables of pandas have them; another text unchanged."""
    if not text.lstrip().startswith(("[{'", "{'")) or len(text) > _LONGEST_PRINTED:
        return text
    try:
        return json.loads(json.dumps(ast.literal_eval(text.strip())))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return text


def text_or_none(value: Any) -> str | None:
    """Non-blank text, integers as text; None for other values."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def is_blank(value: Any) -> bool:
    """Whether a value is empty: null, "", false, or lists and objects of such values (as tables fill columns)."""
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    if isinstance(value, list):
        return all(map(is_blank, value))
    return value is None or value is False or value == ""


def as_objects(value: Any, place: str, what: str) -> list[dict[str, Any]]:
    """A list of objects; null is []."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of {what}, not {json_kind(value)}")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise CaseFileError(f"{place}.{index}: must be an object among {what}, not {json_kind(item)}")
    return value
