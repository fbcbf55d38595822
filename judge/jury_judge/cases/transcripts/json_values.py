"""Decoded JSON as readers of transcripts take it: texts, and what a value is, for messages."""

import json
from typing import Any

from jury_judge.errors import CaseFileError


def json_kind(value: Any) -> str:
    """What a decoded value is, or what a caller of Python gave instead of one, for a message."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def as_text(value: Any) -> str:
    """Text as it is, null as "", any other JSON as JSON text; bytes (of a table's cell) as the text that they are."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=as_text)


def decoded_json(value: Any, *, texts: bool = False) -> Any:
    """What a text is as JSON, where it is a list or an object (with `texts`: or a quoted text); else it as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ({"[", "{", '"'} if texts else {"[", "{"}):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def text_or_none(value: Any) -> str | None:
    """Text that is not blank, whole numbers as text; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def is_blank(value: Any) -> bool:
    """Whether nothing is said: null, "", false, or nothing else in a list or object, as tables fill up columns."""
    if isinstance(value, dict):
        return all(map(is_blank, value.values()))
    if isinstance(value, list):
        return all(map(is_blank, value))
    return value is None or value is False or value == ""


def as_objects(value: Any, place: str, what: str) -> list[dict[str, Any]]:
    """A list of objects; null is none.

    Raises:
        CaseFileError: it is anything else; the message begins with `place` and says that it must be `what`.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseFileError(f"{place}: must be a list of {what}, not {json_kind(value)}")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise CaseFileError(f"{place}.{index}: must be an object among {what}, not {json_kind(item)}")
    return value
