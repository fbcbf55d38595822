"""Reading what a client sent: every field is checked, and what cannot be used is named."""

from typing import Any

from jury_providers.errors import ProviderError

Table = dict[str, Any]


class Unusable(ProviderError):
    """A request that the protocol refuses; the message begins with the place in its body."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)

    @classmethod
    def said(cls, message: str) -> "Unusable":
        """In the provider's own words, which begin with no place."""
        return cls("", message)


def table(value: object, field: str) -> Table:
    """An object."""
    if not isinstance(value, dict):
        raise Unusable(field, f"expected an object, got {_kind(value)}")
    return value


def optional_table(value: object, field: str) -> Table:
    """An object; none is an empty one."""
    return {} if value is None else table(value, field)


def rows(value: object, field: str) -> list[Any]:
    """An array; none is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unusable(field, f"expected an array, got {_kind(value)}")
    return value


def text(value: object, field: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise Unusable(field, f"expected a string, got {_kind(value)}")
    return value


def name(value: object, field: str) -> str:
    """A string that is not empty."""
    found = text(value, field)
    if not found:
        raise Unusable(field, "must not be empty")
    return found


def flag(value: object, field: str) -> bool:
    """True or false; none is false."""
    if value is None:
        return False
    if not isinstance(value, bool):
        raise Unusable(field, f"expected a boolean, got {_kind(value)}")
    return value


def whole(value: object, field: str) -> int | None:
    """A whole number, or none."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise Unusable(field, f"expected an integer, got {_kind(value)}")
    return value


def texts(value: object, field: str, *kinds: str) -> str:
    """A string, or an array of blocks `{"type": KIND, "text": …}` of these kinds, joined; none is empty."""
    if value is None or isinstance(value, str):
        return value or ""
    found = []
    for index, block in enumerate(rows(value, field)):
        place = f"{field}[{index}]"
        kind = table(block, place).get("type")
        if kind not in kinds:
            raise Unusable(f"{place}.type", f"expected one of {', '.join(kinds)}")
        found.append(text(block.get("text"), f"{place}.text"))
    return "".join(found)


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
