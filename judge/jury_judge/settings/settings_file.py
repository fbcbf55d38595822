"""Settings files: a YAML table with the fields of a settings model, each checked by itself, with its line in errors.

What a file says counts less than arguments and the environment: its fields are merged under them, and the rules
between fields are those of the model that is made in the end.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from jury_events import regular_files
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.unknown_fields import first_error, hint
from jury_events.yes_or_no import refuse_yes_or_no
from jury_judge.errors import PanelFileError, SettingsFileError, SettingsRefused
from jury_judge.panels.document import InvalidYaml, YamlDocument, read_text, read_yaml
from jury_judge.settings_model import SettingsModel, readable_message

M = TypeVar("M", bound=SettingsModel)

_VALIDATED = ConfigDict(allow_inf_nan=False, arbitrary_types_allowed=True, coerce_numbers_to_str=True)


def read_settings(
    path: str | os.PathLike[str], model: type[SettingsModel], only: Collection[str] | None = None
) -> dict[str, Any]:
    """The values that a file gives fields of a model, by field, as YAML has them. A field without a value is left out.

    Args:
        path: of the file.
        model: of the settings.
        only: the fields that the file may have; None: all of the model.
    """
    name = visible_line(os.fspath(path), 1000)
    document = _document(path, name)
    fields = {key: one for key, one in _fields(model).items() if only is None or one[0] in only}
    values: dict[str, Any] = {}
    for key, value in document.data.items():
        if key not in fields:
            raise _refused(document, name, [key], f"there is no such setting{did_you_mean(key, fields)}")
        if value is None:
            continue
        _check(document, name, key, fields[key][1], value)
        values[fields[key][0]] = value
    return values


def without_variables(
    values: Mapping[str, Any], model: type[SettingsModel], environ: Mapping[str, str]
) -> dict[str, Any]:
    """The values of a file without those that a variable of the environment gives: it wins."""
    variables = model.variables()
    return {field: value for field, value in values.items() if not environ.get(variables.get(field, ""), "").strip()}


def settings_of(
    path: str | os.PathLike[str], model: type[M], environ: Mapping[str, str] | None = None, **explicit: Any
) -> M:
    """The settings of a file under explicit ones, for callers in Python.

    Args:
        path: of the file.
        model: of the settings.
        environ: whose variables win over the file; None is `os.environ`.
        explicit: fields that win over both.

    Raises:
        SettingsFileError: as `read_settings`.
        SettingsRefused: fields do not go together.
    """
    values = without_variables(read_settings(path, model), model, os.environ if environ is None else environ)
    return model.of(**{**values, **explicit})


def settings_in(path: str | os.PathLike[str], model: type[M]) -> M:
    """The settings that a file gives alone, without variables of the environment."""
    values = read_settings(path, model)
    try:
        return model.of(**values)
    except SettingsRefused as error:
        name = visible_line(os.fspath(path), 1000)
        document = _document(path, name)
        names = model.file_names()
        places = (document.line([names.get(field, field)]) for field in error.fields)
        line = next(filter(None, places), None)
        said = error.worded(lambda field: names.get(field, field))
        raise SettingsFileError(f"{name}:{line}: {said}" if line else f"{name}: {said}") from error


def _document(path: str | os.PathLike[str], name: str) -> YamlDocument:
    try:
        # Not shown to jurors: the store's URL in it may have a password.
        text = read_text(Path(path), name, lambda: f"{name}: there is no such settings file", regular_files.read_text)
        document = read_yaml(text)
    except PanelFileError as error:
        raise SettingsFileError(str(error)) from error
    except InvalidYaml as error:
        raise SettingsFileError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error
    if document.data is None:
        return document._replace(data={})
    if not isinstance(document.data, dict):
        raise SettingsFileError(f"{name}: must be a table of settings, as in limit: 5")
    return document


def _fields(model: type[SettingsModel]) -> dict[Any, tuple[str, FieldInfo]]:
    """The fields that a file may have, by their names there."""
    return {key: (field, model.model_fields[field]) for field, key in model.file_names().items()}


def _check(document: YamlDocument, name: str, key: str, info: FieldInfo, value: Any) -> None:
    form: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
    try:
        refuse_yes_or_no(info.annotation, value)
    except ValueError as error:
        raise _refused(document, name, [key], str(error)) from error
    try:
        TypeAdapter(form, config=_VALIDATED).validate_python(value)
    except ValidationError as error:
        first = first_error(error.errors(include_url=False))
        place = [key, *(part for part in first["loc"] if part != "[key]")]
        raise _refused(document, name, place, f"{readable_message(first['msg'])}{hint(first, form)}") from error


def _refused(document: YamlDocument, name: str, place: list[Any], message: str) -> SettingsFileError:
    line = document.line(place)
    where = f"{name}:{line}" if line else name
    return SettingsFileError(f"{where}: {visible_line('.'.join(map(str, place)), 200)}: {message}")
