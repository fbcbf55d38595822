"""Suggestions for unknown fields and words in pydantic's errors."""

import re
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from jury_events.nearest import did_you_mean

_QUOTED = re.compile(r"'([^']+)'")


def first_error(errors: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The error of `ValidationError.errors()` to report: the first; an unknown field before a missing one beside it."""
    first = errors[0]
    if first["type"] == "missing":
        beside = (one for one in errors if one["type"] == "extra_forbidden" and one["loc"][:-1] == first["loc"][:-1])
        return next(beside, first)
    return first


def hint(error: Mapping[str, Any], form: Any) -> str:
    """` (did you mean preset?)` for an unknown field or word, else empty.

    Args:
        error: of `ValidationError.errors()`, with its input and context.
        form: the type that was validated: a model, or a list, tuple, dict or union of models.
    """
    if error["type"] == "extra_forbidden":
        *place, name = error["loc"]
        return did_you_mean(name, _fields(form, place))
    if error["type"] in {"literal_error", "enum"}:
        return did_you_mean(error["input"], _QUOTED.findall(error["ctx"]["expected"]))
    return ""


def _fields(form: Any, place: Sequence[str | int]) -> list[str]:
    """The field names, by alias, of the models at `place` in a value of type `form`."""
    forms = _models(form)
    for part in place:
        # An unknown part is pydantic's name for a member of a union.
        forms = [inner for one in forms for inner in _inside(one, part)] or forms
    return [found.alias or name for one in forms if _is_model(one) for name, found in one.model_fields.items()]


def _inside(form: Any, part: str | int) -> list[Any]:
    if _is_model(form):
        named = {found.alias or name: found for name, found in form.model_fields.items()}
        return _models(named[part].annotation) if part in named else []
    if get_origin(form) is dict or isinstance(part, int):
        return [inner for one in get_args(form) for inner in _models(one)]
    return []


def _models(form: Any) -> list[Any]:
    """A type without its `Annotated`; the members of a union."""
    if get_origin(form) is Annotated:
        return _models(get_args(form)[0])
    if get_origin(form) in {Union, types.UnionType}:
        return [inner for one in get_args(form) for inner in _models(one)]
    return [form]


def _is_model(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, BaseModel)
