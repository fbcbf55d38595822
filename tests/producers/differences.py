"""What differs between two files of a tool, in words; ids, times and ports, which differ at every run, do not count.

`differences` compares values, `file_differences` files: JSON by keys, other text by lines, anything else by bytes.
"""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jury_cases.containers.inspect_files import ZipMembers

_MOST = 40
"""Lines a file."""

_SHOWN, _BEFORE = 60, 12
"""Characters of a value, and those before the first that differs."""

_MARKER = re.compile(r"(?<![A-Za-z0-9])M\d{2,}[a-z]+")
_VOLATILE = (
    (re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"), "<id>"),
    (re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}[:-]\d{2}[:-]\d{2}(?:[.,]\d+)?(?:Z|\+\d{2}:?\d{2})?"), "<time>"),
    (re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT"), "<time>"),
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:<port>"),
    (re.compile(r"/tmp/[\w./-]+"), "<path>"),
    (re.compile(r"(?<![\w/+])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}(?![\w/+])"), "<id>"),
    (re.compile(r"(?<!\d)(?:1[6-9]|2\d)\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?!\d)"), "<time>"),
    (re.compile(r"(?i)\b(\w*(?:time|duration|latency)\w*: ?)\d+(?:\.\d+)?"), r"\1<time>"),
    (re.compile(r"\b(?=[A-Za-z]*\d)[A-Za-z0-9]{22}\b"), "<id>"),
    (re.compile(r"\b(ID: )[0-9a-f]{6}\b"), r"\1<id>"),
)
"""Identifiers, times (also in seconds to nanoseconds since 1970) and addresses."""

_ID_KEY = re.compile(r"^slug$|(?:^|_)(?:id|ids|uuid)$|(?<=[a-z])I[dD]s?$|^(?:id|uuid)$")
_TIME_KEY = re.compile(
    r"time|duration|latency|elapsed|seconds|^secs$|^nanos$|_ms$|_at$|_start$|date|created|updated", re.IGNORECASE
)


def normalised(value: Any, key: str = "") -> Any:
    """A decoded value with what differs at every run replaced; texts that contain a marker keep all else."""
    if isinstance(value, dict):
        return {_text(name): normalised(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [normalised(inner, key) for inner in value]
    if isinstance(value, str):
        if _MARKER.search(value) is None and _ID_KEY.search(key):
            return "<id>"
        return _text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "<time>" if _TIME_KEY.search(key) or "<" in _text(str(value)) else value
    return value


def _text(text: str) -> str:
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text


def differences(before: Any, after: Any) -> list[str]:
    """In words, one line a kind of difference: keys added and removed, values, lengths of lists."""
    found = Counter(_walk(normalised(before), normalised(after), ""))
    lines = [line if count == 1 else f"{line} ({count} times)" for line, count in found.items()]
    more = [f"and {len(lines) - _MOST} more differences"] if len(lines) > _MOST else []
    return lines[:_MOST] + more


def _walk(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _keys(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        if before != after and _sorted(before) == _sorted(after):
            yield f"{path or 'the whole'}: the same elements in another order"
            return
        if len(before) != len(after):
            yield f"{path or 'the whole'}: {len(before)} elements before, {len(after)} now"
        for one, other in zip(before, after, strict=False):
            yield from _walk(one, other, f"{path}[]")
    elif type(before) is not type(after) or before != after:
        inner = _decoded(before), _decoded(after)
        if inner[0] is not None and inner[1] is not None:  # JSON in a text
            yield from _walk(normalised(inner[0]), normalised(inner[1]), f"{path}{{}}")
        else:
            same = _equal_start(before, after)
            yield f"{path or 'the whole'}: {_shown(before, same)} before, {_shown(after, same)} now"


def _equal_start(before: Any, after: Any) -> int:
    """How many characters two texts begin with alike; 0 for other values."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return 0
    return next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)


def _keys(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[str]:
    for key in sorted(before.keys() - after.keys()):
        yield f"key removed: {_joined(path, key)} (was {_shown(before[key])})"
    for key in sorted(after.keys() - before.keys()):
        yield f"key added: {_joined(path, key)} = {_shown(after[key])}"
    for key, value in before.items():
        if key in after:
            yield from _walk(value, after[key], _joined(path, key))


def _sorted(values: list[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def _decoded(text: Any) -> Any:
    """JSON in a text; None: it is none."""
    if not (isinstance(text, str) and text.lstrip().startswith(("{", "["))):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _shown(value: Any, same: int = 0) -> str:
    """A value in at most 60 characters; of a long text what follows the first `same` characters."""
    if isinstance(value, str) and same > _BEFORE:
        value = "…" + value[same - _BEFORE :]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}…"


def file_differences(before: Path, after: Path) -> list[str]:
    """The differences of two files in words; [] if they say the same."""
    contents = before.read_bytes(), after.read_bytes()
    if contents[0] == contents[1]:
        return []
    if all(map(zipfile.is_zipfile, (before, after))):
        return _archive_differences(before, after)
    try:
        texts = [content.decode("utf-8") for content in contents]
    except UnicodeDecodeError:
        return [f"other bytes: {len(contents[0])} before, {len(contents[1])} now"]
    return _text_differences(*texts)


def _text_differences(before: str, after: str) -> list[str]:
    decoded = _documents(before), _documents(after)
    if decoded[0] is not None and decoded[1] is not None:
        return differences(*decoded)
    return differences(before.splitlines(), after.splitlines())


def _documents(text: str) -> Any:
    """The text as one JSON document, else as JSON lines, else None."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None


def _archive_differences(before: Path, after: Path) -> list[str]:
    """As `file_differences`, member by member."""
    lines = []
    with before.open("rb") as old, after.open("rb") as new:
        archives = ZipMembers(old, before.name), ZipMembers(new, after.name)
        names = [{_text(name): name for name in one.infos} for one in archives]
        lines += [f"member removed: {name}" for name in names[0].keys() - names[1].keys()]
        lines += [f"member added: {name}" for name in names[1].keys() - names[0].keys()]
        for name in sorted(names[0].keys() & names[1].keys()):
            texts = [one.read(at[name]).decode("utf-8") for one, at in zip(archives, names, strict=True)]
            lines += [f"{name}: {line}" for line in _text_differences(*texts)]
    return lines


def paired(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """For each new path the old one that it is; names may contain ids."""
    old: dict[str, list[str]] = {}
    for name in sorted(before):
        old.setdefault(_text(name), []).append(name)
    return {name: same.pop(0) for name in sorted(after) if (same := old.get(_text(name)))}
