"""Strict YAML for settings files: one document, no duplicate keys, line numbers for error messages."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from jury_events.text import visible_line

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
    """Decode with the safe loader.

    Raises:
        InvalidYaml: it is not YAML, contains several documents, or has a duplicate key.
    """
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
