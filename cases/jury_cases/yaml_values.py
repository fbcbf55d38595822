"""YAML as JSON values: the words of YAML 1.2, no key twice, repeated parts within a limit."""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from jury_cases.errors import CaseFileError
from jury_events.text import visible_line

MAX_NODES = 4_000_000
"""Values of a document, each counted as often as it is repeated (`*alias`)."""

_PARSER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STR = "tag:yaml.org,2002:str"
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9]+([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def decode_yaml(text: str, name: str) -> Any:
    """The value of the one document of a text. Dates are texts, and so are `yes`, `no`, `on`, `off`."""
    with _refusals(text, name):
        root = _PARSER(text).get_single_node()
        if root is not None:
            _check_size(root, name)
        return None if root is None else _value(root, name, {})


def decode_documents(text: str, name: str) -> Iterator[Any]:
    """The value of each document of a text, of which `---` divides them; an empty one is left out."""
    with _refusals(text, name):
        parser = _PARSER(text)
        while parser.check_node():
            root = parser.get_node()
            _check_size(root, name)
            if (value := _value(root, name, {})) is not None:
                yield value


@contextmanager
def _refusals(text: str, name: str) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        began, said = error.context_mark, visible_line(error.problem or error.context or "cannot be read", 200)
        since = f" {error.context}, which begins in line {began.line + 1}" if error.problem and began else ""
        raise CaseFileError(f"{name}{line}: not YAML: {said}{visible_line(since, 200)}") from error
    except yaml.reader.ReaderError as error:
        line = f":{text.encode('utf-8', 'surrogatepass')[: error.position].count(10) + 1}"
        raise CaseFileError(
            f"{name}{line}: not YAML: the character U+{int(error.character):04X} is not allowed in it"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise CaseFileError(f"{name}: not YAML: {visible_line(str(error), 200)}") from error
    except RecursionError as error:
        raise CaseFileError(f"{name}: nested too deeply") from error


def _inner(node: Node) -> Iterable[Node]:
    if isinstance(node, MappingNode):
        return [one for pair in node.value for one in pair]
    return node.value if isinstance(node, SequenceNode) else ()


def _check_size(root: Node, name: str) -> None:
    """Count the values without expanding what is repeated."""
    sizes: dict[int, int] = {}
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, counted = waiting.pop()
        if counted:
            sizes[id(node)] = size = 1 + sum(sizes[id(one)] for one in _inner(node))
            if size > MAX_NODES:
                raise CaseFileError(f"{name}: more than {MAX_NODES:,} values; split the file, or write JSON lines")
        elif id(node) not in sizes:
            sizes[id(node)] = MAX_NODES + 1  # a value inside itself
            waiting.append((node, True))
            waiting += [(one, False) for one in _inner(node) if id(one) not in sizes]


def _value(node: Node, name: str, known: dict[int, Any]) -> Any:
    if id(node) in known:
        return known[id(node)]
    if isinstance(node, ScalarNode):
        return _scalar(node)
    if isinstance(node, SequenceNode):
        found: Any = [_value(one, name, known) for one in node.value]
    else:
        found = {}
        for key, value in node.value:
            word = key.value if isinstance(key, ScalarNode) else None
            if word is None or word in found:
                why = (
                    "a key is no text" if word is None else f"the key {visible_line(word, 80)!r} is twice in one object"
                )
                raise CaseFileError(f"{name}:{key.start_mark.line + 1}: {why}")
            found[word] = _value(value, name, known)
    known[id(node)] = found
    return found


def _scalar(node: ScalarNode) -> Any:
    text: str = node.value
    if node.style is not None or node.tag == _STR:
        return text
    if text.lower() in _WORDS and text in {text.lower(), text.title(), text.upper()}:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text) is None:
        return None if text.lower() in {".nan", ".inf", "-.inf", "+.inf"} else text
    if text.lstrip("+-").isdigit():
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None
