"""Damaged copies of the kept files: what a reader meets that is handed a broken, cut or hostile file."""

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Path_ = tuple[str | int, ...]

DEEP = "[" * 1_000_000 + "]" * 1_000_000
ODD: tuple[Any, ...] = (
    *(None, [], {}, "", "x", 0, 5, -1, 1e300, 2**70, True, [1], [None], [[]], [{}], {"a": 1}, {"type": ["x"]}, "["),
    *("null", "{}", "\ud800", "\0", {"": {"": []}}, [{"role": None}], {"id": {}}, "NaN", float("nan")),
)
_HOLE = "HOLE-7f3a"
_PARENT = re.compile(r"parent", re.IGNORECASE)
_ID = re.compile(r"(?:^|_)(?:id|uuid)$|(?<=[a-z])(?:Id|ID|Uuid)$")


def documents(text: str) -> tuple[list[Any], str] | None:
    """The JSON documents of a text and what is between them; None: it is not JSON."""
    try:
        return [json.loads(text)], ""
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()], "\n"
    except ValueError:
        return None


def written(values: list[Any], between: str) -> str:
    """The inverse of `documents`."""
    return between.join(json.dumps(value) for value in values) + between


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of everything in a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def classes_of_places(value: Any) -> list[Path_]:
    """One path of each class: paths that differ in the numbers of elements are of one class."""
    found: dict[Path_, Path_] = {}
    for path in places(value):
        found.setdefault(tuple("[]" if isinstance(key, int) else key for key in path), path)
    return list(found.values())


def _parent(value: Any, path: Path_) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


def replaced(text: str, draw: random.Random, new: Any) -> str:
    """The text with the value of one place replaced; sometimes inside the JSON that a text of it holds."""
    found = documents(text)
    if found is None:
        cut = draw.randrange(len(text) + 1)
        return text[:cut] + (new if isinstance(new, str) else json.dumps(new)) + text[cut:]
    values, between = found
    paths = classes_of_places(values)
    path = draw.choice(paths) if paths else None
    if path is None:
        return written([new], between)
    holder = _parent(values, path)
    inner = holder[path[-1]]
    if isinstance(inner, str) and inner.startswith(("{", "[")) and draw.random() < 0.7:
        holder[path[-1]] = replaced(inner, draw, new)
    else:
        holder[path[-1]] = new
    return written(values, between)


def wrong_type(text: str, draw: random.Random) -> str:
    """One value has another type."""
    return replaced(text, draw, draw.choice(ODD))


def nested(text: str, draw: random.Random) -> str:
    """One value is nested a million times, or as deep as the decoder just allows; as JSON, or as text that holds it."""
    deep = draw.choice((DEEP, "[" * 1000 + "]" * 1000, '{"a":' * 400 + "1" + "}" * 400))
    if draw.random() < 0.5:
        return replaced(text, draw, deep)
    return replaced(text, draw, _HOLE).replace(f'"{_HOLE}"', deep).replace(_HOLE, deep)


def without_a_field(text: str, draw: random.Random) -> str:
    """One field or element is missing."""
    found = documents(text)
    if found is None:
        lines = text.splitlines(keepends=True)
        del lines[draw.randrange(len(lines))]
        return "".join(lines)
    values, between = found
    path = draw.choice(classes_of_places(values))
    del _parent(values, path)[path[-1]]
    return written(values, between)


def truncated(text: str, draw: random.Random) -> str:
    """The end is missing."""
    return text[: draw.randrange(len(text))]


def _with_values(text: str, new: Callable[[str, Any], Any]) -> str:
    found = documents(text)
    if found is None:
        return text

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(new(key, inner)) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    return written([changed(value) for value in found[0]], found[1])


def equal_ids(text: str, draw: random.Random) -> str:
    """All ids (of some kind) are equal."""
    keys = sorted(set(re.findall(r'"([A-Za-z_]+)"', text)))
    chosen = {key for key in keys if _ID.search(key) and draw.random() < 0.6}
    return _with_values(text, lambda key, value: "same" if key in chosen and isinstance(value, str) else value)


def cyclic(text: str, draw: random.Random) -> str:
    """Every parent's id is that of any other: some are their own ancestors."""
    ids: list[Any] = []
    _with_values(text, lambda key, value: (ids.append(value) if _ID.search(key) else None, value)[1])
    own = [one for one in ids if isinstance(one, str | int) and one != ""] or ["same"]
    return _with_values(
        text,
        lambda key, value: draw.choice(own) if _PARENT.search(key) and not isinstance(value, dict | list) else value,
    )


DAMAGES = {
    "truncated": truncated,
    "nested": nested,
    "wrong types": wrong_type,
    "missing fields": without_a_field,
    "equal ids": equal_ids,
    "cycles of parents": cyclic,
}


def damaged(content: bytes, damage: str, seed: int) -> bytes:
    """A damaged copy of a file's bytes, reproducible by seed. What is not text is cut, or has other bytes."""
    draw = random.Random(seed)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        if damage == "truncated":
            return content[: draw.randrange(len(content))]
        changed = bytearray(content)
        for _ in range(draw.randrange(1, 9)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        return bytes(changed)
    return DAMAGES[damage](text, draw).encode("utf-8", "surrogatepass")
