"""Which column of a row is what: by name, or as `--field TARGET=COLUMN` says."""

import re
from collections.abc import Mapping
from typing import Any

from jury_events.nearest import did_you_mean
from jury_judge.errors import CaseFileError
from jury_judge.views.visible_text import visible_line

AUTOMATIC: dict[str, tuple[str, ...]] = {
    "case_id": ("case_id", "item_id", "id", "debate_id"),
    "question": ("question",),
    "policy": ("policy", "profile", "system"),
    "expected_behavior": ("expected_behavior", "expected_behaviour"),
    "response": ("response",),
    "messages": ("messages",),
    "execution": ("execution",),
    "scenario_id": ("scenario_id",),
    "scenarios": ("scenarios",),
    "security_gate_records": ("security_gate_records",),
    "agent_card_records": ("agent_card_records",),
    "security_gate_uri": ("security_gate_uri",),
    "agent_card_uri": ("agent_card_uri",),
    "label": ("expected_verdict", "label"),
    "metadata": ("metadata",),
    "tags": ("tags",),
    "cluster": ("cluster",),
    "cost": ("agent_cost",),
}
"""What a case is made of, and the columns that are read for it unasked. No other column ever enters a case: it might
hold the truth that the jurors are measured against. Jurors see nothing of the last five."""

METADATA = "metadata."
"""Begins the target of one metadata value: `metadata.level`."""

_SHOWN_COLUMNS = 20
_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
_INDEX = re.compile(r"[0-9]{1,9}")


def snake_case(name: str) -> str:
    """A column's name as ours are snake_case: `caseId` as `case_id`."""
    return _HUMP.sub(r"_\1", name).lower()


def with_snake_case_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose columns may be snake_case as HTTP spells them (`caseId`), by the names that are read."""
    known = {column for columns in AUTOMATIC.values() for column in columns}
    renamed: dict[str, Any] = {}
    for name, value in row.items():
        plain = snake_case(name)
        renamed[plain if plain in known and plain not in row else name] = value
    return renamed


def check_targets(fields: Mapping[str, str]) -> None:
    """Refuse unknown targets.

    Raises:
        CaseFileError: there is one.
    """
    for target in fields:
        if target not in AUTOMATIC and not (target.startswith(METADATA) and len(target) > len(METADATA)):
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a case{did_you_mean(target, AUTOMATIC)}; "
                f"the parts are {', '.join(AUTOMATIC)}, metadata.NAME"
            )


def automatic(row: Mapping[str, Any], target: str) -> Any:
    """What the row's own columns say of `target`, None when they say nothing."""
    return next((row[column] for column in AUTOMATIC[target] if row.get(column) is not None), None)


def present(row: Mapping[str, Any], target: str) -> bool:
    """Whether the row has a column for `target`, be it null."""
    return any(column in row for column in AUTOMATIC[target])


def value_at(row: Any, source: str, target: str) -> Any:
    """A column by its whole name, else by its path: `judges.gpt.answer`, `messages.0.content`.

    Raises:
        CaseFileError: the row has none; the message begins with `target`.
    """
    value: Any = row
    left = source.split(".")
    while left:
        # A name may hold dots itself: the longest one that is there is meant.
        taken = next((n for n in range(len(left), 0, -1) if _holds(value, ".".join(left[:n]))), 0)
        if not taken:
            where = source.removesuffix(".".join(left)).removesuffix(".")
            there = f"{visible_line(where)!r} holds" if where else "its columns are"
            raise CaseFileError(f"{target}: the row has no {visible_line(source)!r}; {there} {listing(value)}")
        key = ".".join(left[:taken])
        value = value[key] if isinstance(value, dict) else value[int(key)]
        left = left[taken:]
    return value


def _holds(value: Any, key: str) -> bool:
    if isinstance(value, list):
        return _INDEX.fullmatch(key) is not None and int(key) < len(value)
    return isinstance(value, dict) and key in value


def listing(row: Any) -> str:
    """The columns of a row, or what else it is, for a message."""
    if isinstance(row, list):
        return f"a list of {len(row)}"
    if not isinstance(row, dict):
        return "no columns"
    names = [visible_line(str(name), 60) for name in row]
    more = f" and {len(names) - _SHOWN_COLUMNS} more" if len(names) > _SHOWN_COLUMNS else ""
    return (", ".join(names[:_SHOWN_COLUMNS]) or "none") + more
