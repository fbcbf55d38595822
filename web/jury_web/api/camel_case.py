"""Field names of the API are in camelCase; keys that are data are not changed."""

from typing import Any

from pydantic.alias_generators import to_camel

_NAMED_BY_DATA = frozenset({"scores", "probabilities", "ended_as", "metadata"})
"""Objects whose keys are data: rubric dimensions, verdict words, metadata of case files."""


def camel_case(value: Any) -> Any:
    """`value`, of dicts and lists, with its keys in camelCase."""
    if isinstance(value, dict):
        return {to_camel(key): inner if key in _NAMED_BY_DATA else camel_case(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [camel_case(inner) for inner in value]
    return value
