"""The base of all settings: frozen values whose rules between fields are checked where they are made."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo, field_validator

from jury_events.ids import is_debate_id, is_run_id, reachable
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.yes_or_no import refuse_yes_or_no
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.messages import readable_message
from jury_judge.settings.option import Option, name_in_file, option_of
from jury_judge.settings.store import STORE_URL


class SettingsModel(BaseModel):
    """Frozen, no unknown field, no NaN or infinity. A subclass refuses combinations with `SettingsRefused`.

    A settings file has the fields of a model, but for those with `exclude=True`; see `settings_file`.

    Each field that a door shows has an `Option` in its annotation.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,  # a command makes few of them
        coerce_numbers_to_str=True,  # YAML reads a name such as 2026 as a number
    )

    @classmethod
    def file_names(cls) -> dict[str, str]:
        """What fields are called in a settings file; those that no file has are left out."""
        return {name: name_in_file(name, info) for name, info in cls.model_fields.items() if not info.exclude}

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Environment variables that win over a settings file, by the field that they give."""
        found = {name: option_of(info) for name, info in cls.model_fields.items()}
        return {name: option.variable for name, option in found.items() if option and option.variable}

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, written: Any, info: ValidationInfo) -> Any:
        return refuse_yes_or_no(cls.model_fields[info.field_name or ""].annotation, written)

    if not TYPE_CHECKING:  # type checkers know the fields from their declarations

        def __init__(self, **fields: Any) -> None:
            """See `of`."""
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise _refused(error, type(self).model_fields) from error

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """The settings of these fields."""
        return cls(**fields)


def _refused(error: ValidationError, names: Iterable[str]) -> SettingsRefused:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][0])
        return SettingsRefused(escaped(f"{name}: there is no such setting{did_you_mean(name, names)}"))
    place = "".join(f"[{part}]" if isinstance(part, int) else f"{{{part}}}" for part in first["loc"][:2])
    message = readable_message(first["msg"])
    return SettingsRefused(f"{place}: {escaped(message)}")


STORE = Option(
    help="sqlite:///PATH or postgresql://USER@HOST/DB. [default: $JURY_STORE_URL, else sqlite:///jury.db]",
    name="--store",
    metavar="URL",
    variable=STORE_URL,
)
StoreUrl = Annotated[str | None, STORE]
"""None is `JURY_STORE_URL`, else `sqlite:///jury.db`."""


class Stored(SettingsModel):
    """What is done with a store."""

    store_url: StoreUrl = None


def checked_run_id(value: str) -> str:
    """The id of a run that may not be there yet."""
    if not is_run_id(value):
        shown = visible_line(repr(value), 120)
        raise ValueError(f"{shown} cannot name a run; use 1 to 100 letters, digits, dots, hyphens, underscores")
    return _reachable(value)


def checked_debate_id(value: str) -> str:
    """The id of a debate that may not be there yet."""
    if not is_debate_id(value):
        raise ValueError(f"{visible_line(repr(value), 120)} cannot be the id of a debate")
    return _reachable(value)


def _reachable(value: str) -> str:
    if not reachable(value):
        raise ValueError(f"{value!r} cannot be an id: it is a step in a path, and leads to no page; use another")
    return value


def parted(written: Any) -> tuple[str, ...]:
    """Names parted by commas, or a list of them."""
    if written is None:
        return ()
    names = tuple(one.strip() for one in written.split(",")) if isinstance(written, str) else tuple(written)
    if not all(names):
        raise ValueError("must be names parted by commas")
    return names


Names = Annotated[tuple[str, ...], BeforeValidator(parted)]
