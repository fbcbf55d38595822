"""The base of every value object, and the constrained strings and numbers in bodies.

Bodies contain ids, numbers and labels only; free text is a part (`jury_events.parts`).
"""

from collections.abc import Callable
from functools import lru_cache, partial
from operator import attrgetter
from typing import Annotated, Any, ClassVar, ParamSpec, Protocol, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
)

from jury_events.ids import DEBATE_ID, RUN_ID
from jury_events.text import CONTROL

MAX_TEXT = 32 * 1024 * 1024
"""Characters of one free text of a case."""


class Value(BaseModel):
    """Frozen, keyword-only, strict: no coercion, no unknown field, no NaN or infinity. Bytes are base64 in JSON."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )

    def changed(self, **fields: Any) -> Self:
        """A copy with `fields` replaced, validated again."""
        return type(self).model_validate({**self.__dict__, **fields})

    trusted: ClassVar[Callable[..., Any]]
    """See `trusted` below."""

    encoded_once: ClassVar[bool] = False
    """Whether one value is a part of many events, as a panel of those of a run: its last bytes are kept."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Note the fields with their defaults, in their order."""
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        cls.trusted = partial(_trusted, cls, defaults, set(defaults))


_P = ParamSpec("_P")
_V = TypeVar("_V", bound=Value)


class _Trusted(Protocol):
    def __call__(self, kind: Callable[_P, _V], /) -> Callable[_P, _V]: ...


trusted: _Trusted = attrgetter("trusted")
"""Returns what makes a value of fields that are valid already, as the rules make events of parsed answers.

It is not validated again, and equals the value that is. What models, files and people say is always validated.
"""


_set_members, _set_names, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def _trusted(kind: type[_V], defaults: dict[str, Any], names: set[str], /, **fields: Any) -> _V:
    value = kind.__new__(kind)
    _set_members(value, {**defaults, **fields})
    _set_names(value, names)
    _set_extra(value, None)
    _set_private(value, None)
    return value


@lru_cache(maxsize=4096)
def one_line(text: str) -> str:
    """The text, if it has neither a line break nor a control character.

    Raises:
        ValueError: it has one; the message names it.
    """
    found = CONTROL.search(text)
    if found:
        raise ValueError(
            f"character U+{ord(found.group()[0]):04X} at index {found.start()} is not allowed in an id or label"
        )
    return text


Label = Annotated[str, StringConstraints(min_length=1, max_length=300), AfterValidator(one_line)]
"""A short name shown to people: 1-300 characters, one line, no control characters."""

JurorId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(one_line)]
"""A free string, unique in its panel (document 002 uses model ids, document 004 `juror-gpt`)."""

CaseId = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(one_line)]
ScenarioId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(one_line)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(one_line)]
"""`provider/model`."""

RunId = Annotated[str, StringConstraints(pattern=f"^{RUN_ID}$")]
DebateId = Annotated[str, StringConstraints(pattern=f"^{DEBATE_ID}$")]
"""Safe in a URL path and in a file name."""


def reachable(name: str) -> str:
    """An id that can be addressed in a URL: clients remove the segments `.` and `..` (RFC 3986, 5.2.4)."""
    if name in {".", ".."}:
        raise ValueError(f"{name!r} cannot be an id: it is a step in a path, and leads to no page; use another")
    return name


NewRunId = Annotated[RunId, AfterValidator(reachable)]
NewDebateId = Annotated[DebateId, AfterValidator(reachable)]
"""Ids of new runs and debates; old logs may have others."""

Points = Annotated[float, Field(ge=0, le=100)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Round = Annotated[int, Field(ge=1)]
