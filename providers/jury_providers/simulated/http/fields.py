"""Checked access to the fields of a client's request; errors name the field."""

import json
from typing import Any, ClassVar, Self

from jury_providers.errors import ProviderError

JsonObject = dict[str, Any]


class InvalidRequest(ProviderError):
    """A request that the protocol refuses; the message begins with the field's path. `status` is HTTP's."""

    status: ClassVar[int] = 400

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)

    @classmethod
    def verbatim(cls, message: str) -> Self:
        """With the provider's exact message, without a field's path."""
        return cls("", message)


def table(value: object, field: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidRequest(field, f"expected an object, got {_kind(value)}")
    return value


def optional_table(value: object, field: str) -> JsonObject:
    """An object; null is {}."""
    return {} if value is None else table(value, field)


def rows(value: object, field: str) -> list[Any]:
    """An array; null is []."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidRequest(field, f"expected an array, got {_kind(value)}")
    return value


def text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(field, f"expected a string, got {_kind(value)}")
    return value


def name(value: object, field: str) -> str:
    """A non-empty string."""
    found = text(value, field)
    if not found:
        raise InvalidRequest(field, "must not be empty")
    return found


def flag(value: object, field: str) -> bool:
    """A boolean; null is false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidRequest(field, f"expected a boolean, got {_kind(value)}")
    return value


def whole(value: object, field: str) -> int | None:
    """An integer or null."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidRequest(field, f"expected an integer, got {_kind(value)}")
    return value


def texts(value: object, field: str, *kinds: str) -> str:
    """A string, or an array of blocks `{"type": KIND, "text": …}` of these kinds, joined; null is ""."""
    if value is None or isinstance(value, str):
        return value or ""
    found = []
    for index, block in enumerate(rows(value, field)):
        path = f"{field}[{index}]"
        kind = table(block, path).get("type")
        if kind not in kinds:
            raise InvalidRequest(f"{path}.type", f"expected one of {', '.join(kinds)}")
        found.append(text(block.get("text"), f"{path}.text"))
    return "".join(found)


def encoded(value: Any) -> bytes:
    """Compact JSON, as the providers send it. A lone surrogate (of a malformed request) becomes `?`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _kind(value: object) -> str:
    kinds = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return kinds.get(type(value), "null")
