"""A panel file as it is written: its data, and where each field stands, for messages."""

import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from jury_events.nearest import did_you_mean
from jury_events.unknown_fields import first_complaint, hint
from jury_judge.cases.containers.strict_json import JsonRefused, decode_text
from jury_judge.errors import PanelFileError
from jury_judge.panels.strict_yaml import YamlDocument, YamlRefused, read_yaml
from jury_judge.views.visible_text import visible_line

MAX_BYTES = 1 << 20
JURIES = ("documents", "current")
"""Panel files that come with the package, by name: who sits, as the documents have it, and with models of today."""

_PRESETS = files("jury_judge.panels") / "presets"
_SUFFIXES = {".yaml", ".yml", ".json"}


class PanelDocument(NamedTuple):
    """`name` is what messages call the file; `folder` is where its relative paths begin."""

    name: str
    folder: Path
    data: dict[str, Any]
    yaml: YamlDocument

    def refused(self, field: Sequence[str | int], message: str) -> PanelFileError:
        """The error that `message` is, at the line of `field`."""
        line = self.yaml.line(field)
        return PanelFileError(f"{self.name}:{line}: {message}" if line else f"{self.name}: {message}")

    def validated(self, field: Sequence[str | int], form: Any, value: Any) -> Any:
        """The `value` that stands at `field`, as one of the type `form`.

        Raises:
            PanelFileError: it is refused; the message names the first place that is wrong.
        """
        try:
            return TypeAdapter(form).validate_python(value)
        except ValidationError as error:
            first = first_complaint(error.errors(include_url=False))
            place = [*field, *(part for part in first["loc"] if part != "[key]")]
            raise self.refused(
                place, f"{'.'.join(map(str, place))}: {in_our_words(first['msg'])}{hint(first, form)}"
            ) from error

    def without(self, *fields: str) -> dict[str, Any]:
        """The data but for these fields."""
        return {name: value for name, value in self.data.items() if name not in fields}


def in_our_words(said: str) -> str:
    """What pydantic says, without its prefix for our own words, and with ours for what YAML calls otherwise."""
    said = said.replace("Value error, ", "", 1).replace("Extra inputs are not permitted", "there is no such field", 1)
    said = re.sub(r"a valid dictionary( or instance of \w+)?", "a table of fields", said, count=1)
    return re.sub(r"a valid (tuple|list)", "a list", said, count=1)


def jury_text(name: str) -> str:
    """The panel file that comes with the package under that name."""
    return (_PRESETS / f"{name}.yaml").read_text(encoding="utf-8")


def read_document(path: str, known: Sequence[str]) -> PanelDocument:
    """The panel file at `path`, or one of those that come with the package.

    Args:
        path: a file, or a name of `JURIES`.
        known: names that a path is told from where there is no such file.

    Raises:
        PanelFileError: it cannot be read, or is not a table.
    """
    name = visible_line(path, 1000)
    text = jury_text(path) if path in JURIES else read_text(Path(path), name, lambda: _not_found(path, name, known))
    document = _json(text, name) if Path(path).suffix.lower() == ".json" else _yaml(text, name)
    if document.data is None:
        raise PanelFileError(f"{name}: the file is empty; write at least a preset, as in preset: adk-sequential")
    if not isinstance(document.data, dict):
        raise PanelFileError(f"{name}: must be a table of fields such as preset, seats, discussion and final")
    return PanelDocument(name, Path(path).parent, document.data, document)


def read_text(path: Path, name: str, not_found: Callable[[], str]) -> str:
    """A file of at most `MAX_BYTES`, UTF-8.

    Raises:
        PanelFileError: it cannot be read; the message calls it `name`.
    """
    from jury_store import regular_files  # noqa: PLC0415  (help needs the names in this module, and no store)

    try:
        return regular_files.read_text(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise PanelFileError(not_found()) from error
    except regular_files.FileTooLarge as error:
        raise PanelFileError(f"{name}: {error.strerror}; is this the file that you mean?") from error
    except UnicodeDecodeError as error:
        line = regular_files.line_of(error)
        raise PanelFileError(f"{name}:{line}: not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise PanelFileError(f"{name}: cannot be read: {regular_files.read_failure(error)}") from error


def _yaml(text: str, name: str) -> YamlDocument:
    try:
        return read_yaml(text)
    except YamlRefused as error:
        raise PanelFileError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error


def _json(text: str, name: str) -> YamlDocument:
    """JSON is read as such: YAML refuses the tabs that it may be indented with."""
    try:
        return YamlDocument(decode_text(text) if text.strip() else None, None)
    except JsonRefused as error:
        line = None if error.position is None else text.count("\n", 0, error.position) + 1
        raise PanelFileError(f"{name}:{line}: {error}" if line else f"{name}: {error}") from error


def _not_found(path: str, name: str, known: Sequence[str]) -> str:
    if Path(path).suffix.lower() in _SUFFIXES or "/" in path:
        return f"{name}: there is no such panel file"
    return f"{name}: neither a preset ({', '.join(known)}) nor a file{did_you_mean(path, known)}"
