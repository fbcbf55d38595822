"""Rows of one trace: tracing tools write a span or run a line, and several traces into one file."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_cases.formats.gathering import GatheredCase, Gathering, RowsByKey

Record = dict[str, Any]


class TraceRows(dict[str, Any]):
    """The records of one trace as one row: `format`, `trace_id`, `records`."""


class TraceGathering(Gathering):
    """Gathers records by trace.

    Args:
        trace_id: of a record; "" if it has none.
    """

    def __init__(
        self, name: str, expanded: Callable[[Any], Iterable[Record]], trace_id: Callable[[Record], str]
    ) -> None:
        self._expanded = expanded
        self._trace_id = trace_id
        self._records = RowsByKey(
            trace_id, "trace", lambda trace, records: TraceRows(format=name, trace_id=trace, records=records)
        )

    def add(self, row: FileRow) -> None:
        """Add the records of a row."""
        try:
            for record in self._expanded(row.data):
                self._records.add_part(self._trace_id(record), record, row)
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error

    def cases(self) -> Iterator[GatheredCase]:
        """One case a trace, in the order of their first records."""
        yield from self._records.cases()


def records_of(row: Any, expanded: Callable[[Any], Iterable[Record]]) -> tuple[str | None, list[Record]]:
    """The id and the records of a gathered trace, or of a row that comes from no file (its id is None)."""
    if isinstance(row, TraceRows):
        return row["trace_id"] or None, row["records"]
    return None, list(expanded(row))


def is_gathered(row: Any, name: str) -> bool:
    """Whether a row is a gathered trace of the format."""
    return isinstance(row, TraceRows) and row["format"] == name
