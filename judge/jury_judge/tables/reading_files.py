"""How a table of votes is read, from the file beside it: `votes.yaml` beside `votes.csv`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jury_cases.containers.endings import bare_name
from jury_cases.errors import CaseFileError
from jury_cases.labels import label_word
from jury_cases.votes.fields import check_vote_fields
from jury_events.errors import SettingError
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line
from jury_judge.errors import VoteReadingRefused
from jury_judge.panels.document import PanelDocument, read_text
from jury_judge.panels.strict_yaml import InvalidYaml, read_yaml
from jury_judge.settings.votes import VoteReading

ENDING = ".yaml"

_OPTION = re.compile(r"--(?=(?:field|map|order|categories|label|annotators|judges|seats)\b)")


def reading_beside(table: Path) -> Path | None:
    """The file beside a table that says how it is read: the table's name without endings, with `.yaml`; None: none."""
    if not table.name:
        return None
    found = table.with_name(bare_name(table) + ENDING)
    return found if found != table and found.is_file() else None


def read_reading(path: Path) -> VoteReading:
    """How a table is read. The fields are the options of `jury votes`.

    Raises:
        VoteReadingRefused: the file, a field or a value cannot be used; the message names file, line and field.
        PanelFileError: the file cannot be read.
    """
    name = visible_line(str(path), 1000)
    text = read_text(path, name, lambda: f"{name}: there is no such file")
    try:
        yaml = read_yaml(text)
    except InvalidYaml as error:
        raise VoteReadingRefused(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error
    if not isinstance(yaml.data, dict):
        raise VoteReadingRefused(f"{name}: must be a table of fields: {', '.join(_FIELDS)}")
    document = PanelDocument(name, path.parent, yaml.data, yaml)
    said: dict[str, Any] = {}
    for field, value in yaml.data.items():
        if field not in _FIELDS:
            raise _refused(
                document,
                field,
                f"there is no such field{did_you_mean(str(field), _FIELDS)}; the fields are {', '.join(_FIELDS)}",
            )
        target, read = _FIELDS[field]
        try:
            said[target] = read(value)
        except ValueError as error:
            raise _refused(document, field, str(error)) from error
    return _checked(document, said)


def _checked(document: PanelDocument, said: dict[str, Any]) -> VoteReading:
    """The settings; an error has the line of the field that it is about."""
    for field in ("field", "map"):
        alone = {name: said[name] for name in _ALONE[field] if name in said}
        try:
            if field == "field":
                check_vote_fields(said.get("fields", {}))
            VoteReading.of(**alone)
        except (CaseFileError, SettingError) as error:
            raise _refused(document, field, _OPTION.sub("", str(error))) from error
    try:
        return VoteReading.of(**said)
    except (CaseFileError, SettingError) as error:
        raise VoteReadingRefused(f"{document.name}: {_OPTION.sub('', str(error))}") from error


_ALONE = {"field": ("fields", "label", "cluster"), "map": ("mappings", "order", "categories")}
"""Settings that are checked together."""


def _refused(document: PanelDocument, field: Any, message: str) -> VoteReadingRefused:
    line = document.yaml.line((field,))
    place = f"{document.name}:{line}" if line else document.name
    shown = visible_line(str(field), 60)
    return VoteReadingRefused(f"{place}: {message}" if message.startswith(shown) else f"{place}: {shown}: {message}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, str) and one for one in found):
        raise ValueError("must be text, or a list of texts")
    return tuple(found)


def _word(value: Any) -> str:
    word = None if isinstance(value, bool) or not isinstance(value, str | int | float) else label_word(value)
    if word is None:
        raise ValueError(f"{visible_line(repr(value), 60)} is not a word; write it in quotation marks")
    return word


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_word(one) for one in value)
    raise ValueError("must be a list of words, as [low, middle, high]")


def _table(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError("must be a table of names and values")


def _columns(value: Any) -> dict[str, str]:
    return {_text(part): "" if column is None else _text(column) for part, column in _table(value).items()}


def _meanings(value: Any) -> dict[str, str | None]:
    return {_word(word): None if meaning is None else _word(meaning) for word, meaning in _table(value).items()}


_FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "field": ("fields", _columns),
    "judges": ("judges", _texts),
    "label": ("label", _text),
    "annotators": ("annotators", _texts),
    "cluster": ("cluster", _text),
    "seats": ("seats", _texts),
    "map": ("mappings", _meanings),
    "order": ("order", _words),
    "categories": ("categories", _words),
}
"""The fields of a file, which are the options of `jury votes`: the setting that each is, and how it is read."""
