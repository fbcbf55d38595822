"""Rows in a Parquet file, written atomically."""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from jury_events.verdict import Verdict
from jury_replay.output_path import check_output_path
from jury_replay.rescoring.rows import RescoreRow, RescoreStatus
from jury_replay.table_file import TableFile, replacing


class RescoreTable:
    """Counts the rows of one setting.

    Attributes:
        statuses: rows by status.
        verdicts: rows with a new verdict by old and new verdict.
        rescored: those whose score changed.
        beyond_record: those where the rules continue beyond the record.
        undetermined_steps: undetermined rows by their first undetermined step.
        not_applicable_reasons: rows that are not applicable by the reason.
        assumptions: rows by assumption, by the assumption.
        labelled: those with a label; `old_agrees` and `new_agrees` are those whose verdict is the label.
    """

    def __init__(self, setting: str) -> None:
        self.setting = setting
        self.statuses: Counter[RescoreStatus] = Counter()
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.undetermined_steps: Counter[str] = Counter()
        self.not_applicable_reasons: Counter[str] = Counter()
        self.assumptions: Counter[str] = Counter()
        self.rescored = self.beyond_record = self.labelled = self.old_agrees = self.new_agrees = 0

    def take(self, row: RescoreRow) -> None:
        """The next row."""
        self.statuses[row.status] += 1
        if row.undetermined_step is not None:
            self.undetermined_steps[row.undetermined_step] += 1
        if row.status is RescoreStatus.NOT_APPLICABLE:
            self.not_applicable_reasons[row.reason] += 1
        if row.assumes is not None:
            self.assumptions[row.assumes] += 1
        if row.old_verdict is None or row.new_verdict is None:
            return
        self.verdicts[row.old_verdict, row.new_verdict] += 1
        self.rescored += row.old_score != row.new_score
        self.beyond_record += bool(row.beyond_record)
        if row.label is not None:
            self.labelled += 1
            self.old_agrees += row.old_verdict == row.label
            self.new_agrees += row.new_verdict == row.label

    @property
    def determined(self) -> int:
        """Debates whose new verdict follows from the record."""
        return self.statuses[RescoreStatus.DETERMINED]

    @property
    def answered(self) -> int:
        """Debates with a new verdict."""
        return self.determined + self.statuses[RescoreStatus.BY_ASSUMPTION]

    @property
    def flipped(self) -> int:
        """Those of them whose verdict changed."""
        return sum(count for (old, new), count in self.verdicts.items() if old != new)

    def as_json(self) -> dict[str, Any]:
        """Every figure; `verdicts` by old, then by new verdict."""
        return {
            "setting": self.setting,
            "debates": self.statuses.total(),
            **{status.value: self.statuses[status] for status in RescoreStatus},
            "flipped": self.flipped,
            "rescored": self.rescored,
            "beyond_record": self.beyond_record,
            "verdicts": {old.value: {new.value: self.verdicts[old, new] for new in Verdict} for old in Verdict},
            "undetermined_steps": dict(self.undetermined_steps.most_common()),
            "not_applicable_reasons": dict(self.not_applicable_reasons.most_common()),
            "assumptions": dict(self.assumptions.most_common()),
            "labelled": self.labelled,
            "old_agrees": self.old_agrees,
            "new_agrees": self.new_agrees,
        }


GROUP = 20_000
"""Rows that are kept in memory until they are written, as one row group."""

_BEGINS = b"PAR1"

_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES: dict[str, Any] = {
    "setting": _WORD,
    "mode": _WORD,
    "debate_id": pa.string(),
    "run_id": pa.string(),
    "case_id": pa.string(),
    "label": _WORD,
    "status": _WORD,
    "reason": pa.string(),
    "undetermined_step": pa.string(),
    "flipped": pa.bool_(),
    "old_verdict": _WORD,
    "new_verdict": _WORD,
    "old_label": _WORD,
    "new_label": _WORD,
    "old_score": pa.int8(),
    "new_score": pa.int8(),
    "old_total_rounds": pa.int16(),
    "new_total_rounds": pa.int16(),
    "old_end_reason": _WORD,
    "new_end_reason": _WORD,
    "old_decided_by": _WORD,
    "new_decided_by": _WORD,
    "beyond_record": pa.bool_(),
    "assumes": _WORD,
    "cluster": _WORD,
    "tags": pa.list_(pa.string()),
    # As JSON text: names and types of values differ from case to case.
    "metadata": pa.string(),
    "not_shown": pa.int32(),
}
_REQUIRED = frozenset({"setting", "mode", "debate_id", "case_id", "status", "reason", "tags", "metadata", "not_shown"})
SCHEMA = pa.schema([pa.field(name, _TYPES[name], nullable=name not in _REQUIRED) for name in RescoreRow._fields])


class RowFile:
    """A context manager that writes rows to `path`, in place of an older file; after an error nothing is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()
        self._rows: list[RescoreRow] = []

    def __enter__(self) -> Self:
        check_output_path(self._path, _BEGINS)
        part = self._open.enter_context(replacing(self._path))
        self._file = self._open.enter_context(TableFile(part, None, SCHEMA, compression="snappy", buffer=0))
        return self

    def take(self, rows: Iterable[RescoreRow]) -> None:
        """The next rows."""
        self._rows += rows
        if len(self._rows) >= GROUP:
            self._write()

    def _write(self) -> None:
        arrays = [_array(column, field) for column, field in zip(zip(*self._rows, strict=True), SCHEMA, strict=True)]
        self._file.write(pa.Table.from_arrays(arrays, schema=SCHEMA))
        self._rows = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._open.__exit__(kind, error, at)
            return
        with self._open:
            if self._rows:
                self._write()


def _array(column: Iterable[Any], field: Any) -> Any:
    if field.name == "metadata":
        column = [json.dumps(one, ensure_ascii=False) for one in column]
    return pa.array(column, field.type)
