"""Markdown of generated pages: tables, and the words for types of JSON."""

import ast
import inspect
import re
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

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


def prose(text: str | None) -> str:
    """A docstring in one paragraph a paragraph, without sections for programmers (`Args:`, `Raises:`)."""
    plain = re.split(r"\n\s*(?:Args|Raises|Attributes|Returns|Yields):", inspect.cleandoc(text or ""))[0]
    return "\n\n".join(" ".join(one.split()) for one in plain.split("\n\n"))


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


def field_docs(*kinds: type) -> dict[str, dict[str, str]]:
    """What docstrings say of each field of these classes and of those that their fields name, by class."""
    found: dict[str, dict[str, str]] = {}
    for kind in reached(kinds):
        try:
            (tree,) = ast.parse(inspect.cleandoc(f"\n{inspect.getsource(kind)}")).body
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
        found[kind.__name__] = _attributes(inspect.getdoc(kind) or "") | _under_fields(tree)
    return found


def _attributes(docstring: str) -> dict[str, str]:
    """The section `Attributes:` of a docstring, by field."""
    section = docstring.partition("\nAttributes:\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^ {4}([\w, ]+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name.strip(): " ".join(text.split()) for names, text in rows for name in names.split(",")}


def _under_fields(tree: ast.stmt) -> dict[str, str]:
    body = getattr(tree, "body", [])
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def reached(kinds: Iterable[Any]) -> list[type]:
    """The classes, with bases that have fields, and all classes that annotations of their fields name."""
    found: dict[type, None] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        waiting += typing.get_args(kind)
        if not isinstance(kind, type) or kind in found or not kind.__module__.startswith("jury_"):
            continue
        found[kind] = None
        waiting += typing.get_type_hints(kind, include_extras=True).values()
    return list(found)
