"""A yes or no where a number belongs: pydantic would take true as 1, and YAML has five words for true."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin


def refuse_yes_or_no(annotation: Any, written: Any) -> Any:
    """The value as it is, unless a yes or no stands where its type has numbers alone; in lists and tables too.

    Raises:
        ValueError: one does.
    """
    if not isinstance(written, bool | dict | list | tuple):
        return written
    forms = list(_forms(annotation))
    if isinstance(written, bool) and not {int, float}.isdisjoint(forms) and bool not in forms:
        raise ValueError(f"a number is needed, and YAML reads this word as {str(written).lower()}")
    for form in forms:
        origin, given = get_origin(form), get_args(form)
        if isinstance(written, dict) and origin in _TABLES:
            for one in written.values():
                refuse_yes_or_no(given[-1], one)
        elif isinstance(written, list | tuple) and origin in _LISTS:
            for number, one in enumerate(written):
                refuse_yes_or_no(given[min(number, len(given) - 1)] if given[-1] is not ... else given[0], one)
    return written


_TABLES, _LISTS = frozenset({dict, Mapping}), frozenset({list, tuple, Sequence})


def _forms(annotation: Any) -> Iterator[Any]:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _forms(parts[0])
    elif origin is None or origin in _TABLES | _LISTS:
        yield annotation
    else:
        for one in parts:
            yield from _forms(one)
