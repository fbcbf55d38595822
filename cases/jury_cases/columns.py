"""Maps columns of a row to the parts of a case: by name, or by `--field TARGET=COLUMN`."""

import re
from collections.abc import Mapping
from functools import lru_cache
from shlex import quote
from typing import Any

from jury_cases.errors import CaseFileError
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line

AUTOMATIC: dict[str, tuple[str, ...]] = {
    "case_id": ("case_id", "item_id", "id", "debate_id"),
    "question": ("question",),
    "policy": ("policy", "profile", "system", "system_prompt"),
    "expected_behavior": ("expected_behavior", "expected_behaviour", "reference"),
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
    "decisive_message": ("decisive_message", "mistake_step"),
    "decisive_agent": ("decisive_agent", "mistake_agent"),
}
"""The parts of a case, with the columns that are read by default. Jurors are shown no other column: it might have the
ground truth that they are measured against. The label and those from `metadata` on are not shown to them either."""

READ_UNASKED = frozenset(column for columns in AUTOMATIC.values() for column in columns)
"""The columns that are read by default."""

TURNS = frozenset(
    {
        *("conversation", "conversations", "dialog", "dialogs", "dialogue", "dialogues", "chat"),
        *("turns", "rounds", "exchanges", "messages", "chat_log", "interactions"),
    }
)
"""Columns of a conversation as a list of turns."""

HISTORIES = frozenset({"history", "chat_history", "conversation_history", "dialogue_history", "dialog_history"})
"""Columns of the turns before the question of the row; of all of them where a row has none."""

METADATA = "metadata."
"""Prefix of a target for one metadata value: `metadata.level`."""

_SHOWN_COLUMNS = 20
_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
_INDEX = re.compile(r"[0-9]{1,9}")


@lru_cache(maxsize=4096)
def snake_case(name: str) -> str:
    """A column's name in snake case: `case_id` for `caseId`."""
    return _HUMP.sub(r"_\1", name).lower()


def with_snake_case_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with camel case names of known columns (`caseId`) converted to snake case."""
    known = {column for columns in AUTOMATIC.values() for column in columns}
    renamed: dict[str, Any] = {}
    for name, value in row.items():
        plain = snake_case(name)
        renamed[plain if plain in known and plain not in row else name] = value
    return renamed


def named_columns(row: Mapping[str, Any], fields: Mapping[str, str]) -> set[str]:
    """The columns that the user's fields are read from."""
    return {source if source in row else source.partition(".")[0] for source in fields.values()}


def check_targets(fields: Mapping[str, str]) -> None:
    """Check the targets of `--field`."""
    for target in fields:
        if target not in AUTOMATIC and not (target.startswith(METADATA) and len(target) > len(METADATA)):
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a case{did_you_mean(target, AUTOMATIC)}; "
                f"the parts are {', '.join(AUTOMATIC)}, metadata.NAME"
            )


def automatic(row: Mapping[str, Any], target: str) -> Any:
    """The value of the row's default column for `target`; None if it has none."""
    columns = filled_columns(row, target)
    return row[columns[0]] if columns else None


def filled_columns(row: Mapping[str, Any], target: str) -> list[str]:
    """The row's default columns for `target` that have a value, the one that counts first: blank texts are last."""
    found = [column for column in AUTOMATIC[target] if row.get(column) is not None]
    return sorted(found, key=lambda one: isinstance(row[one], str) and not row[one].strip())


def value_at(row: Any, source: str, target: str) -> Any:
    """The value of a column by its name, else by its path: `judges.gpt.answer`, `messages.0.content`."""
    value: Any = row
    left = source.split(".")
    while left:
        # A name may contain dots: the longest existing one counts.
        taken = next((n for n in range(len(left), 0, -1) if _has_key(value, ".".join(left[:n]))), 0)
        if not taken:
            where = source.removesuffix(".".join(left)).removesuffix(".")
            there = f"{visible_line(where)!r} contains" if where else "its columns are"
            raise CaseFileError(f"{target}: the row has no {visible_line(source)!r}; {there} {listing(value)}")
        key = ".".join(left[:taken])
        value = value[key] if isinstance(value, dict) else value[int(key)]
        left = left[taken:]
    return value


def _has_key(value: Any, key: str) -> bool:
    if isinstance(value, list):
        return _INDEX.fullmatch(key) is not None and int(key) < len(value)
    return isinstance(value, dict) and key in value


def field_option(part: str, column: str) -> str:
    """`--field` for a column of any name, as a shell reads it."""
    return f"--field {quote(f'{part}={visible_line(column, 200)}')}"


def listing(row: Any) -> str:
    """The columns of a row (or its type), for a message."""
    if isinstance(row, list):
        return f"a list of {len(row)}"
    if not isinstance(row, dict):
        return "no columns"
    names = [visible_line(str(name), 60) for name in row]
    more = f" and {len(names) - _SHOWN_COLUMNS} more" if len(names) > _SHOWN_COLUMNS else ""
    return (", ".join(names[:_SHOWN_COLUMNS]) or "none") + more


def message_column(row: Any) -> str | None:
    """The first column that is a list of messages: objects with a role; None where there is none."""
    if not isinstance(row, dict):
        return None
    for name, value in row.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) and "role" in one for one in value):
            return str(name)
    return None
