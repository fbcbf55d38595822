"""Names over HTTP are in camelCase; names that are data stay as they are."""

from typing import Any

from pydantic.alias_generators import to_camel

_NAMED_BY_DATA = frozenset({"scores", "ended_as", "metadata"})
"""Tables whose keys are data: rubric dimensions, verdicts, what a case file names."""


def camel_case(value: Any) -> Any:
    """`value`, made of dicts and lists, with the keys of its tables in camelCase."""
    if isinstance(value, dict):
        return {to_camel(key): inner if key in _NAMED_BY_DATA else camel_case(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [camel_case(inner) for inner in value]
    return value
