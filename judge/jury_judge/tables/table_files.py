"""Tables written as files: CSV, and Parquet of ballots and frontiers; and the scales whose labels they have.

A table of ballots says the scales of the panels' own in the file itself, or in the one beside it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa
import yaml

from jury_analysis.ballots import EVERY_COLUMN, check, decoded, schema_of
from jury_analysis.frontier import CostFrontier
from jury_events.errors import EventError
from jury_events.text import moment
from jury_events.verdict_scale import VerdictScale
from jury_judge.store_access.debates import panel_of
from jury_replay.output_path import check_output_path
from jury_replay.table_file import replace_table
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

Scales = tuple[VerdictScale | None, ...]
"""Each once; None: the three verdicts. (): no panel has a scale of its own."""

_SCALES = b"jury_judge.scales"
"""The key of a Parquet file's metadata."""

ENDING = ".yaml"
"""Of the file beside a table that says how it is read."""

_BEGINS = "scales:"
"""What a file of scales begins with."""


class ScalesOfDebates:
    """The scales of debates. Of each panel one debate is read."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._of_panels: dict[str | None, VerdictScale | None] = {}

    def take(self, row: DebateRow, panel: str | None) -> None:
        """Read the scale of a debate that has ended; one whose opening cannot be read has none (see `jury verify`)."""
        if not row.has_ended or panel in self._of_panels:
            return
        try:
            self._of_panels[panel] = panel_of(self._store, row.debate_id).panel.scale
        except EventError:
            self._of_panels[panel] = None

    @property
    def found(self) -> Scales:
        """The scales."""
        return distinct_scales(self._of_panels.values())


def distinct_scales(scales: Iterable[VerdictScale | None]) -> Scales:
    """Each scale once; () if all are the three verdicts."""
    found = tuple({None if one is None else one.digest: one for one in scales}.values())
    return found if any(found) else ()


def scales_metadata(scales: Scales) -> dict[bytes, bytes]:
    """What a Parquet file says of its scales."""
    return {_SCALES: json.dumps(_plain(scales), ensure_ascii=False).encode()} if scales else {}


def scales_within(metadata: Mapping[bytes, bytes]) -> Scales:
    """The scales of a Parquet file."""
    found = json.loads(metadata.get(_SCALES, b"[]"))
    return tuple(None if one is None else VerdictScale.model_validate_json(json.dumps(one)) for one in found)


def scales_file(table: Path) -> Path:
    """The file beside a table that says how it is read."""
    path = table.with_suffix(ENDING)
    check_output_path(path, _BEGINS.encode())
    return path


def write_scales(path: Path, scales: Scales) -> None:
    """Write the scales of a table beside it; without any an older file is removed."""
    if not scales:
        path.unlink(missing_ok=True)
        return
    text = yaml.safe_dump({_BEGINS.rstrip(":"): _plain(scales)}, allow_unicode=True, sort_keys=False)
    path.write_text(text, encoding="utf-8")


def _plain(scales: Scales) -> Sequence[object]:
    return [None if one is None else one.model_dump(mode="json") for one in scales]


BALLOTS = "ballots"
"""The name of the table in its file."""

_ORDER = [(name, "ascending") for name in ("debate_id", "round", "role", "seat")]


def write_ballots(path: Path, ballots: pa.Table, labels: pa.Table | None = None, scales: Scales = ()) -> None:
    """Write ballots with the columns and types of `jury_analysis.ballots.schema_of`, sorted, so that the same ballots
    give the same file; an older file of ballots is replaced at once.

    Args:
        labels: rows of `jury_analysis.label_schema.LABELS`, which win over the labels of the ballots.
        scales: whose labels the ballots have; the file says them.
    """
    table = check(ballots, EVERY_COLUMN)
    if labels is not None:
        from jury_analysis.labels import label_ballots, resolve  # noqa: PLC0415  (imports numpy, of an extra)

        table = label_ballots(table, resolve(labels)).ballots
    replace_table(path, BALLOTS, decoded(table).sort_by(_ORDER).cast(schema_of(table)), scales_metadata(scales))


FRONTIER = "frontier"
"""The name of the table in its file."""

_SCHEMA = pa.schema(
    [
        pa.field("seats", pa.list_(pa.string()), nullable=False),
        pa.field("rounds", pa.int32(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("decided", pa.float64(), nullable=False),
        pa.field("cost", pa.float64()),
        pa.field("calls", pa.float64()),
        pa.field("tokens", pa.float64()),
        pa.field("by_assumption", pa.int64(), nullable=False),
        pa.field("on_frontier", pa.bool_(), nullable=False),
    ]
)


def write_frontier(path: Path, found: CostFrontier) -> None:
    """Write a row a choice, in the order of the report; an older file of choices is replaced at once."""
    rows = [
        {
            **{name: getattr(one, name) for name in _SCHEMA.names if name not in {"value", "low", "high"}},
            "value": one.value.value,
            "low": None if one.value.interval is None else one.value.interval.low,
            "high": None if one.value.interval is None else one.value.interval.high,
        }
        for one in found.points
    ]
    replace_table(path, FRONTIER, pa.Table.from_pylist(rows, _SCHEMA))


_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""What a text begins with that gets an apostrophe. One that has apostrophes before such a sign gets one more, so that
the text can be read back."""

_RECOGNISED = 3
"""Columns by which a file is known to be an older one of the same table."""

_ROWS = 2000


# A null is an empty cell, an empty text `""`: every text is quoted, nothing else is. Spreadsheets compute a cell that
# begins like a formula, whether it is quoted or not: such a text has an apostrophe before it, which a reader takes away
# again (docs/reference/tables.md). https://owasp.org/www-community/attacks/CSV_Injection
def check_csv_path(path: Path, schema: pa.Schema) -> None:
    """Refuse to replace a file that is not an older one of the same table."""
    check_output_path(path, ",".join(schema.names[:_RECOGNISED]).encode())


class CsvFile:
    """A table as CSV, written row by row.

    Args:
        out: takes the bytes; it is not closed.
        schema: of the table; the heading has its names.
    """

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        self._out = out
        self._schema = schema
        self._rows: list[Mapping[str, Any]] = []
        self.rows = 0
        self._write_lines([",".join(schema.names)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._flush()

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        self._flush()
        for batch in table.to_batches(_ROWS):
            self._write(pa.Table.from_batches([batch]))

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._write(pa.Table.from_pylist(rows, self._schema))

    def _write(self, table: pa.Table) -> None:
        self.rows += table.num_rows
        self._write_lines([",".join(row) for row in zip(*map(_cells, table.columns), strict=True)])

    def _write_lines(self, lines: list[str]) -> None:
        self._out.write("".join(f"{line}\r\n" for line in lines).encode())


def _cells(column: pa.ChunkedArray) -> Iterable[str]:
    if not pa.types.is_timestamp(column.type):
        return map(_cell, column.to_pylist())
    # Python has no time after the year 9999, and an altered log may.
    times = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()
    return ("" if one is None else _time(moment(one, "microseconds")) for one in times)


def _time(said: str) -> str:
    return _quoted(said) if " " in said else said  # it says that it is none


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return _quoted(value)
        case bool():
            return "true" if value else "false"
        case list():
            return _quoted(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    guard = "'" if _FORMULA.match(text) else ""
    return f'"{guard}{text.replace(chr(34), chr(34) * 2)}"'
