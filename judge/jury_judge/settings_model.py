"""Settings: frozen values whose fields doors show, and the table of options that the command reads.

A field is declared once, with an `Option` in its annotation. The option of the command, its place in help, the name in
a settings file and the line of the reference page are made of that, of the field's type and of its default. Help
imports no model: it reads `jury_cli/options.json`, which `pytest --update tests/judge/test_options.py`
writes. Rules between fields are checked where a value is made.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from jury_events.nearest import did_you_mean
from jury_events.yes_or_no import refuse_yes_or_no
from jury_judge.errors import SettingsRefused, escaped

Row = dict[str, Any]
"""An option as the command reads it; what is usual is left out."""

_TYPES = {bool: "flag", int: "int", float: "float", Path: "path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How doors show a field.

    Attributes:
        help: in one line or two; the command adds bounds and the default.
        group: the heading under which help shows it; "": among others.
        name: of the option, where it is not the field's, as `--run`.
        rare: help shows it only where every option is shown.
        metavar: what stands for the value in help.
        typed: how it is typed where the type does not say it: `text`, as it is, once; `texts`, often; `last`, pairs
            that are parted at the last =; `folders`, which must be there.
        choices: what may be typed, where the type does not say it.
        default: what is typed for the default, where that is not the default itself.
        environ: the variable that the command reads where the option is not given.
        variable: the variable that the application reads where no option gives the field; it wins over settings files.
    """

    help: str
    group: str = ""
    name: str = ""
    rare: bool = False
    metavar: str = ""
    typed: Literal["", "text", "texts", "last", "folders"] = ""
    choices: tuple[str, ...] = ()
    default: str = ""
    environ: str = ""
    variable: str = ""


def option_of(info: FieldInfo) -> Option | None:
    """The last option in the annotation of a field; None: no door shows it."""
    return next((one for one in reversed(info.metadata) if isinstance(one, Option)), None)


def option_name(field: str, info: FieldInfo) -> str:
    """The option that gives a field, as `--max-cost`."""
    option = option_of(info)
    return (option.name if option else "") or "--" + field.replace("_", "-")


def name_in_file(field: str, info: FieldInfo) -> str:
    """What a field is called in a settings file: as its option, as `store` where that is `--store`."""
    return option_name(field, info).partition("/")[0][2:].replace("-", "_") if option_of(info) else field


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

    def changed(self, **fields: Any) -> Self:
        """The same with other values of these fields."""
        return self.of(**{name: getattr(self, name) for name in self.model_fields_set} | fields)


def _refused(error: ValidationError, names: Iterable[str]) -> SettingsRefused:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][0])
        return SettingsRefused(escaped(f"{name}: there is no such setting{did_you_mean(name, names)}"))
    place = "".join(f"[{part}]" if isinstance(part, int) else f"{{{part}}}" for part in first["loc"][:2])
    message = readable_message(first["msg"])
    return SettingsRefused(f"{place}: {escaped(message)}")


def readable_message(message: str) -> str:
    """A message of pydantic, without its prefixes and with YAML's words for Python's types."""
    message = message.replace("Value error, ", "", 1)
    message = message.replace("Extra inputs are not permitted", "there is no such field", 1)
    message = re.sub(r"a valid dictionary( or instance of \w+)?", "a table of fields", message, count=1)
    return re.sub(r"a valid (tuple|list)", "a list", message, count=1)


def option_rows(model: type[BaseModel]) -> dict[str, Row]:
    """The options of a model, by field, in the order of the fields."""
    rows = ((name, option_row(name, info)) for name, info in model.model_fields.items())
    return {name: row for name, row in rows if row is not None}


def option_row(field: str, info: FieldInfo) -> Row | None:
    """The option of a field."""
    option = option_of(info)
    if option is None:
        return None
    row: Row = {"option": option_name(field, info), **_typed(option, info)}
    default = option.default or info.get_default(call_default_factory=True)
    if info.is_required():
        row["required"] = True
    elif isinstance(default, str | int | float) and default is not False:
        row["default"] = default
    elif default is None and row.get("type") == "flag":
        row["default"] = None  # a flag that is not given says nothing
    shown = {name: getattr(option, name) for name in ("metavar", "environ", "group", "rare", "help")}
    return row | {name: said for name, said in shown.items() if said}


def _typed(option: Option, info: FieldInfo) -> Row:
    match option.typed:
        case "text":
            return {"text": True}
        case "texts":
            return {"many": True}
        case "last":
            return {"many": True, "pairs": "last"}
        case "folders":
            return {"type": "folder", "many": True}
        case _:
            return {"choices": option.choices} if option.choices else _form(info.annotation, info.metadata)


def table_text(models: Iterable[type[BaseModel]]) -> str:
    """The options of models as JSON, an option a line; what a model has from another is there alone."""
    table: dict[str, dict[str, Any]] = {}
    for model in models:
        _add(model, table)
    texts = []
    for name, rows in table.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in rows.items())
        texts.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _add(model: type[BaseModel], table: dict[str, dict[str, Any]]) -> None:
    bases = [one for one in model.__bases__ if issubclass(one, BaseModel) and option_rows(one)]
    for base in bases:
        _add(base, table)
    beneath = {name: row for base in reversed(bases) for name, row in option_rows(base).items()}
    own = {name: option_row(name, info) for name, info in model.model_fields.items()}
    changed = {name: row for name, row in own.items() if row != beneath.get(name)}
    table[model.__name__] = {"": [one.__name__ for one in bases], **changed}


def _form(annotation: Any, metadata: Iterable[Any]) -> Row:
    """What may be typed: the type, its bounds or choices, and whether it may be repeated."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _form(inner[0], [*metadata, *inner[1:]])
    if origin in {Union, UnionType}:
        members = [one for one in inner if one is not NoneType]
        return _form(next((one for one in members if get_origin(one) is dict), members[0]), metadata)
    if origin in {dict, Mapping} or annotation is Mapping:
        return {"many": True, "pairs": "first"}
    if origin is tuple:
        return {**_form(inner[0], ()), "many": True}
    if origin is Literal:
        return {"choices": list(inner)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {"choices": [one.value for one in annotation]}
    return {**({"type": _TYPES[annotation]} if annotation in _TYPES else {}), **dict(_bounds(metadata))}


def _bounds(metadata: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for one in metadata:
        match one:
            case FieldInfo():
                yield from _bounds(one.metadata)
            case Ge(bound):
                yield "low", bound
            case Gt(bound):
                yield from (("low", bound), ("low_open", True))
            case Le(bound):
                yield "high", bound
            case Lt(bound):
                yield from (("high", bound), ("high_open", True))
            case _:
                pass
