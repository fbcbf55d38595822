"""Which column of a row is what: by name, or as `--field TARGET=COLUMN` says."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

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
_INDEX = re.compile(r"[0-9]{1,9}")


def check_targets(fields: Mapping[str, str]) -> None:
    """Refuse unknown targets.

    Raises:
        CaseFileError: there is one.
    """
    for target in fields:
        if target not in AUTOMATIC and not (target.startswith(METADATA) and len(target) > len(METADATA)):
            near = get_close_matches(target, AUTOMATIC, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a case{hint}; "
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
    if isinstance(row, dict) and source in row:
        return row[source]
    value: Any = row
    for key in source.split("."):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise CaseFileError(f"{target}: the row has no {visible_line(source)!r}; its columns are {listing(row)}")
    return value


def listing(row: Any) -> str:
    """The row's columns, for a message."""
    if not isinstance(row, dict):
        return "none"
    names = [visible_line(str(name), 60) for name in row]
    more = f" and {len(names) - _SHOWN_COLUMNS} more" if len(names) > _SHOWN_COLUMNS else ""
    return (", ".join(names[:_SHOWN_COLUMNS]) or "none") + more
