"""Rows in a list inside a file's objects, as selected by `--rows results.results`."""

from collections.abc import Iterable, Iterator
from typing import Any

from jury_cases.containers.row import FileRow, RowData, RowSelection, kind_of, rows_of_list
from jury_cases.errors import CaseFileError
from jury_events.text import visible_line

EVAL_KEY = "_eval"
"""The key under which a sample of an Inspect log gets the log's `eval` object (task, model, dataset)."""

_SHOWN_KEYS = 20


def nested_rows(rows: Iterable[FileRow], selection: RowSelection, *, of_json: bool) -> Iterator[FileRow]:
    """The rows of one file, each replaced by its nested rows if there is a path.

    `of_json`: objects of a known shape are detected too (`RowSelection.natural_rows`).
    """
    number = 0
    for row in rows:
        path = selection.rows_path
        if path is None and of_json and isinstance(row.data, dict):
            path = selection.natural_rows(row.data)
        if path is None:
            yield row._replace(data=_unwrapped(row.data, selection)) if of_json else row
            continue
        for index, data in enumerate(_found(row, path), start=1):
            number += 1
            place = f"{row.place}: {visible_line(path)} row {index}"
            yield row._replace(place=place, number=number, data=_with_eval(data, row.data, path))


def _unwrapped(data: RowData, selection: RowSelection) -> RowData:
    """The one object in a document such as `{"data": {…}}`, if that has a format of its own."""
    inner = next(iter(data.values())) if isinstance(data, dict) and len(data) == 1 else None
    return inner if isinstance(inner, dict) and not selection.is_known(data) and selection.is_known(inner) else data


def with_eval(sample: RowData, log: Any) -> RowData:
    """A sample of an Inspect log with the log's `eval` object under `EVAL_KEY`."""
    evaluation = log.get("eval") if isinstance(log, dict) else None
    return {EVAL_KEY: evaluation} | sample if isinstance(evaluation, dict) and isinstance(sample, dict) else sample


def _with_eval(data: RowData, document: RowData, path: str) -> RowData:
    return with_eval(data, document) if path == "samples" else data


def _found(row: FileRow, path: str) -> Iterator[RowData]:
    shown = visible_line(path)
    value: Any = row.data
    for key in path.split("."):
        if not isinstance(value, dict):
            raise CaseFileError(f"{row.place}: --rows {shown}: {visible_line(key)!r} is looked for in {kind_of(value)}")
        if key not in value:
            raise CaseFileError(
                f"{row.place}: --rows {shown}: there is no {visible_line(key)!r}; the keys there are {_keys(value)}"
            )
        value = value[key]
    if not isinstance(value, list):
        raise CaseFileError(f"{row.place}: --rows {shown}: leads to {kind_of(value)}, not to a list{_inside(value)}")
    return rows_of_list(value, f"{row.place}: {shown}")


def _inside(value: Any) -> str:
    return f"; the keys there are {_keys(value)}" if isinstance(value, dict) else ""


def _keys(value: dict[str, Any]) -> str:
    names = [visible_line(str(name), 60) for name in value]
    more = f" and {len(names) - _SHOWN_KEYS} more" if len(names) > _SHOWN_KEYS else ""
    return (", ".join(names[:_SHOWN_KEYS]) or "none") + more
