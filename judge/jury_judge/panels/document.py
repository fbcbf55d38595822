"""Strict YAML, and the data of a panel file with the line of each field for error messages."""

from collections.abc import Callable, Hashable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import TypeAdapter, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from jury_events import regular_files
from jury_events.named_files import read_named_text
from jury_events.nearest import did_you_mean
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line
from jury_events.unknown_fields import first_error, hint
from jury_judge.errors import PanelFileError
from jury_judge.settings_model import readable_message

MOST_ITEMS = 2000
"""In one list or table: many times the needs of a settings file."""

_MOST_NODES = 60_000
"""Of a whole file: about 4 seconds of parsing in Python."""

_BOOL, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"


class InvalidYaml(ValueError):
    """The text is invalid. `line` counts from 1; None: unknown."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class YamlDocument(NamedTuple):
    """The decoded data, and the syntax tree with the position of each field."""

    data: Any
    root: Node | None

    def line(self, field: Sequence[str | int]) -> int | None:
        """The line, from 1, of the deepest existing part of the path `field`; None for the empty path."""
        node, line = self.root, None
        for key in field:
            found = _child(node, key)
            if found is None:
                break
            mark, node = found
            line = mark.start_mark.line + 1
        return line


def read_yaml(text: str) -> YamlDocument:
    """Decode with the safe loader."""
    try:
        loader = _StrictLoader(text)
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InvalidYaml(
            visible_line(error.problem or error.context or "not YAML"), mark.line + 1 if mark else None
        ) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidYaml(f"the character U+{ord(text[error.position]):04X} is not allowed in YAML", line) from error
    except RecursionError as error:
        raise InvalidYaml("nested too deeply", None) from error
    except ValueError as error:
        raise InvalidYaml(visible_line(str(error)), None) from error
    return YamlDocument(data, root)


class _StrictLoader(yaml.SafeLoader):
    """Refuses too many values while parsing, before anything is constructed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._nodes += 1
        what = None
        if isinstance(index, int) and index >= MOST_ITEMS:
            what = f"a list has at most {MOST_ITEMS} items"
        elif isinstance(parent, MappingNode) and index is None and len(parent.value) >= MOST_ITEMS:
            what = f"a table has at most {MOST_ITEMS} fields"
        elif self._nodes > _MOST_NODES:
            what = f"a file has at most {_MOST_NODES} values"
        if what is not None:
            events: Any = self  # a parser too, whose methods have no types
            mark = events.peek_event().start_mark
            raise yaml.composer.ComposerError(problem=f"too long: {what}, and a panel 500 seats", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            if key_node.tag == _BOOL:
                key_node.tag = _TEXT  # `true:`, `on:` and `no:` are names
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable):
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        problem=f"the key {key!r} is twice in one table; keep one of them",
                        problem_mark=key_node.start_mark,
                    )
                seen.add(key)
        return super().construct_mapping(node, deep=deep)


def _child(node: Node | None, key: str | int) -> tuple[Node, Node] | None:
    """The key node and the value node of `key` under `node`."""
    if isinstance(node, MappingNode):
        for key_node, value in node.value:
            if isinstance(key_node, ScalarNode) and key_node.value == str(key):
                return key_node, value
    elif isinstance(node, SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key]
    return None


MAX_BYTES = 1 << 20
BUNDLED_PANELS = ("documents", "current")
"""Panel files shipped with the package: the documents' models, and current models."""

_PRESETS = files("jury_judge.panels") / "presets"
_SUFFIXES = {".yaml", ".yml", ".json"}


class PanelDocument(NamedTuple):
    """`name` is the file's name in messages; `folder` is the base of its relative paths.

    `outside`: a line for each file that it names and that is not in its folder.
    """

    name: str
    folder: Path
    data: dict[str, Any]
    yaml: YamlDocument
    outside: tuple[str, ...] = ()

    def naming(self, field: Sequence[str | int], path: str | Path) -> "PanelDocument":
        """The document once its `field` is known to name the file at `path`, links followed."""
        file = Path(path).resolve()
        if file.is_relative_to(self.folder.resolve()):
            return self
        place = visible_line(".".join(map(str, field)), 200)
        line = f"{self.name}: {place} reads {visible_line(str(file), 1000)}, outside the folder of the panel file"
        return self._replace(outside=(*self.outside, line))

    def refused(self, field: Sequence[str | int], message: str) -> PanelFileError:
        """An error with `message` at the line of `field`."""
        line = self.yaml.line(field)
        return PanelFileError(f"{self.name}:{line}: {message}" if line else f"{self.name}: {message}")

    def validated(self, field: Sequence[str | int], kind: Any, value: Any) -> Any:
        """The `value` of `field`, validated as the type `kind`."""
        try:
            return TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            first = first_error(error.errors(include_url=False))
            place = [*field, *(part for part in first["loc"] if part != "[key]")]
            raise self.refused(
                place, f"{'.'.join(map(str, place))}: {readable_message(first['msg'])}{hint(first, kind)}"
            ) from error

    def without(self, *fields: str) -> dict[str, Any]:
        """The data without these fields."""
        return {name: value for name, value in self.data.items() if name not in fields}


def bundled_panel_text(name: str) -> str:
    """The text of one of the `BUNDLED_PANELS`."""
    return (_PRESETS / f"{name}.yaml").read_text(encoding="utf-8")


def read_document(path: str, known: Sequence[str]) -> PanelDocument:
    """The panel file at `path`, or one shipped with the package.

    Args:
        path: a file, or one of `BUNDLED_PANELS`.
        known: valid names, for the error message if there is no such file.
    """
    name = visible_line(path, 1000)
    text = (
        bundled_panel_text(path)
        if path in BUNDLED_PANELS
        else read_text(Path(path), name, lambda: _not_found(path, name, known))
    )
    document = _json(text, name) if Path(path).suffix.lower() == ".json" else _yaml(text, name)
    if document.data is None:
        raise PanelFileError(f"{name}: the file is empty; write at least a preset, as in preset: adk-sequential")
    if not isinstance(document.data, dict):
        raise PanelFileError(f"{name}: must be a table of fields such as preset, seats, discussion and final")
    return PanelDocument(name, Path(path).parent, document.data, document)


def read_text(
    path: Path, name: str, not_found: Callable[[], str], read: Callable[[Path, int], str] = read_named_text
) -> str:
    """The text of a UTF-8 file of at most `MAX_BYTES`."""
    try:
        return read(path, MAX_BYTES)
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
    except InvalidYaml as error:
        raise PanelFileError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error


def _json(text: str, name: str) -> YamlDocument:
    """JSON is not parsed as YAML, which refuses tabs as indentation."""
    try:
        return YamlDocument(decode_text(text) if text.strip() else None, None)
    except JsonRefused as error:
        line = text.count("\n", 0, error.position) + 1
        raise PanelFileError(f"{name}:{line}: {error}") from error


def _not_found(path: str, name: str, known: Sequence[str]) -> str:
    if Path(path).suffix.lower() in _SUFFIXES or "/" in path:
        return f"{name}: there is no such panel file; jury panel current prints one to start from"
    return f"{name}: neither a preset ({', '.join(known)}) nor a file{did_you_mean(path, known)}"
