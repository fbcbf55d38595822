"""Writes what was found out of providers' dialects into a panel file; everything else in it stays as it is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from jury_events.named_files import read_named_text
from jury_judge.errors import PanelFileError
from jury_judge.panels.calibration_files import write_file
from jury_judge.panels.document import MAX_BYTES
from jury_judge.panels.strict_yaml import InvalidYaml, read_yaml

PROVIDERS, DIALECT = "providers", "dialect"

Dialects = Mapping[str, Mapping[str, Any]]
"""The fields of `dialect` by provider."""


def write_dialects(path: str, dialects: Dialects) -> None:
    """Write `providers: NAME: {dialect: …}` of each provider into the panel file at `path`."""
    try:
        text = read_named_text(Path(path), MAX_BYTES)
        expected = read_yaml(text).data
        quoted = path.endswith(".json")
        for name, fields in dialects.items():
            text = _written(text, name, fields, quoted=quoted)
            # `providers:` and `NAME:` may stand there with nothing behind them.
            providers = expected[PROVIDERS] = expected.get(PROVIDERS) or {}
            providers[name] = {**(providers.get(name) or {}), DIALECT: read_yaml(_flow(fields, quoted=quoted)).data}
        if read_yaml(text).data != expected:
            raise PanelFileError(f"{path}: the lines cannot be written into it; write them yourself")
        write_file(Path(path), text.encode())
    except (OSError, ValueError, InvalidYaml) as error:
        raise PanelFileError(f"{path}: the lines cannot be written into it ({error}); write them yourself") from None


def shown(fields: Mapping[str, Any]) -> str:
    """The fields as a panel file has them: `dialect: {structured: json_object}`."""
    return f"{DIALECT}: {_flow(fields, quoted=False)}"


def _flow(value: Any, *, quoted: bool) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_key(name, quoted=quoted)}: {_flow(inner, quoted=quoted)}" for name, inner in value.items())
        return f"{{{', '.join(entries)}}}"
    return value if isinstance(value, str) and not quoted else json.dumps(value)


def _key(name: str, *, quoted: bool) -> str:
    return json.dumps(name) if quoted else name


def _written(text: str, name: str, fields: Mapping[str, Any], *, quoted: bool) -> str:
    root = read_yaml(text).root
    providers = _value(root, PROVIDERS)
    endpoint = _value(providers, name)
    found = _value(endpoint, DIALECT)
    if found is not None:
        return text[: found.start_mark.index] + _flow(fields, quoted=quoted) + text[found.end_mark.index :]
    for node, entry in (
        (endpoint, {DIALECT: fields}),
        (providers, {name: {DIALECT: fields}}),
        (root, {PROVIDERS: {name: {DIALECT: fields}}}),
    ):
        if node is not None:
            return _with_entry(text, node, entry, quoted=quoted)
    raise PanelFileError("the file is empty; write the lines yourself")


def _value(node: Node | None, key: str) -> Node | None:
    if not isinstance(node, MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


def _with_entry(text: str, node: Node, entry: Mapping[str, Any], *, quoted: bool) -> str:
    """The text with one more entry in a table: behind the others in braces, else before them on a line of its own."""
    flow = _flow(entry, quoted=quoted)
    if isinstance(node, ScalarNode) or not isinstance(node, MappingNode):  # `NAME:` with nothing behind it
        return f"{text[: node.start_mark.index]} {flow}{text[node.end_mark.index :]}"
    if node.flow_style:
        end = node.end_mark.index - 1
        before = text[:end].rstrip()
        return f"{before}{', ' if node.value else ''}{flow[1:-1]}{text[len(before) : end]}{text[end:]}"
    start = node.start_mark
    return f"{text[: start.index]}{flow[1:-1]}\n{' ' * start.column}{text[start.index :]}"
