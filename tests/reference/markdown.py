"""Markdown of generated pages: tables, and the words for types of JSON."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jury_judge.panels.authoring import prose

_INTRODUCTIONS = Path(__file__).parent / "introductions.toml"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a pipe in a cell is escaped, a line break is a space."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def page(title: str, reader: str, source: str, *parts: str) -> str:
    """A reference page: its title, its kind and reader, what it is made of, and its parts."""
    head = f"# {title}\n\n*Reference, for {reader}.* Made from {source}; `pytest --update tests/reference` writes it.\n"
    return "\n".join([head, *(f"{part.strip()}\n" for part in parts if part.strip())])


def introduction(name: str) -> str:
    """What `introductions.toml` says at the head of a page."""
    text: str = tomllib.loads(_INTRODUCTIONS.read_text("utf-8"))[name]
    return text


def code(word: object) -> str:
    """A word as code; nothing for nothing."""
    return f"`{word}`" if word not in (None, "") else ""


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def schema_tables(
    schema: Mapping[str, Any], first: str, said: Mapping[str, Mapping[str, str]], level: str = "##"
) -> str:
    """A section for each object of a JSON Schema: its description, and a row a field.

    Args:
        schema: of `TypeAdapter.json_schema`.
        first: the name of the outermost object.
        said: what the source says of fields, by class and field, where the schema has no description.
        level: of the headings.
    """
    models = {first: schema, **dict(sorted(schema.get("$defs", {}).items()))}
    return "\n".join(part for name, one in models.items() for part in _described(name, one, said.get(name, {}), level))


def _described(name: str, model: Mapping[str, Any], said: Mapping[str, str], level: str) -> Iterator[str]:
    yield f"{level} {name}\n"
    yield f"{prose(model.get('description'))}\n"
    if "enum" in model:
        yield f"One of {', '.join(map(code, model['enum']))}.\n"
    elif "oneOf" in model:
        yield f"One of {', '.join(type_of(each) for each in model['oneOf'])}.\n"
    elif model.get("properties"):
        rows = [
            (code(field), type_of(one), _default(field, one, model), one.get("description") or said.get(field, ""))
            for field, one in model["properties"].items()
        ]
        with_defaults = any(row[2] for row in rows)
        head = ("field", "type", *(("default",) if with_defaults else ()), "meaning")
        yield table(head, rows if with_defaults else [(row[0], row[1], row[3]) for row in rows]) + "\n"


def _default(field: str, one: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    if field in model.get("required", ()) or one.get("default") in (None, {}, [], ""):
        return ""
    given = one["default"]
    return "" if isinstance(given, dict | list) else code(str(given).lower() if isinstance(given, bool) else given)


def type_of(one: Mapping[str, Any]) -> str:
    """The type of a field in words; objects link to their section."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in one:
            return " or ".join(dict.fromkeys(type_of(each) for each in one[several]))
    if "const" in one:
        return code(one["const"])
    if "enum" in one:
        return ", ".join(map(code, one["enum"]))
    if one.get("type") == "array":
        return f"list of {type_of(one['items'])}" if "items" in one else "list"
    if one.get("type") == "object":
        values = one.get("additionalProperties") or next(iter(one.get("patternProperties", {}).values()), None)
        return f"{type_of(values)} by name" if isinstance(values, dict) else "object"
    return f"{one.get('type', 'any value')}{_bounds(one)}"


def _bounds(one: Mapping[str, Any]) -> str:
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    said = [f"{word} {one[name]:g}" for name, word in words.items() if name in one and abs(one[name]) < 1e15]
    return f" ({' '.join(said)})" if said else ""
