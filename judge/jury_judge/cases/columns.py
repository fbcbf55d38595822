"""Which column of a row is what: by name, or as `--field TARGET=COLUMN` says."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from jury_judge.errors import CaseFileError
from jury_judge.views.visible_text import visible_line

AUTOMATIC: dict[str, tuple[str, ...]] = {
    "case_id": ("case_id", "item_id", "id", "debate_id"),
    "question": ("question",),
    "policy": ("policy", "profile", "system"),
    "expected_behavior": ("expected_behavior",),
    "response": ("response",),
    "messages": ("messages",),
    "execution": ("execution",),
    "scenario_id": ("scenario_id",),
    "scenarios": ("scenarios",),
    "security_gate_records": ("security_gate_records",),
    "agent_card_records": ("agent_card_records",),
    "security_gate_uri": ("security_gate_uri",),
    "agent_card_uri": ("agent_card_uri",),
    "label": ("label", "expected_verdict"),
}
"""What a case is made of, and the columns that are read for it unasked. No other column ever enters a case: it might
hold the truth that the jurors are measured against."""

_SHOWN_COLUMNS = 20
_INDEX = re.compile(r"[0-9]{1,9}")


def check_targets(fields: Mapping[str, str]) -> None:
    """Refuse unknown targets.

    Raises:
        CaseFileError: there is one.
    """
    for target in fields:
        if target not in AUTOMATIC:
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a case; the parts are {', '.join(AUTOMATIC)}"
            )


class Columns(NamedTuple):
    """A row, and the columns that the user named for parts of a case."""

    row: dict[str, Any]
    fields: Mapping[str, str]

    def mapped(self, target: str) -> bool:
        """Whether the user named the column of `target`."""
        return target in self.fields

    def value(self, target: str) -> Any:
        """What the row says of `target`, None when it says nothing.

        Raises:
            CaseFileError: the user named a column that the row does not have.
        """
        source = self.fields.get(target)
        if source is not None:
            return self._at(source, target)
        return next((self.row[c] for c in AUTOMATIC[target] if self.row.get(c) is not None), None)

    def present(self, target: str) -> bool:
        """Whether the row has a column for `target`, be it null."""
        return target in self.fields or any(column in self.row for column in AUTOMATIC[target])

    def listing(self) -> str:
        """The row's columns, for a message."""
        names = [visible_line(name, 60) for name in self.row]
        more = f" and {len(names) - _SHOWN_COLUMNS} more" if len(names) > _SHOWN_COLUMNS else ""
        return (", ".join(names[:_SHOWN_COLUMNS]) or "none") + more

    def _at(self, source: str, target: str) -> Any:
        """A column by its whole name, else by its path: `judges.gpt.answer`, `messages.0.content`."""
        if source in self.row:
            return self.row[source]
        value: Any = self.row
        for key in source.split("."):
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
                value = value[int(key)]
            else:
                raise CaseFileError(
                    f"{target}: the row has no {visible_line(source)!r}; its columns are {self.listing()}"
                )
        return value
