"""Values that a reader does not expect, in any place of a row."""

import copy
from collections.abc import Iterator
from typing import Any

Place = tuple[Any, ...]

ODD = (None, [], {}, "x", 5, True, [1], {"a": 1}, ["x"], "[", [None], [{}], {"type": ["x"]}, 0, "", {"type": {}}, [[]])


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """The path of everything in a row."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def with_value(row: Any, place: Place, value: Any) -> Any:
    """A copy of the row with another value in a place."""
    changed = copy.deepcopy(row)
    at(changed, place[:-1])[place[-1]] = copy.deepcopy(value)
    return changed


def with_odd_values(row: Any, step: int = 1) -> Iterator[Any]:
    """Copies of the row, each with an odd value in one place, of every `step`-th place."""
    for index, place in list(enumerate(places(row)))[::step]:
        yield with_value(row, place, ODD[index % len(ODD)])
