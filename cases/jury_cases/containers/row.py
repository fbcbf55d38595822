"""Decoded rows with their position, the selection of a file's rows, and rows inside its objects (`--rows`)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.json_values import decoded_json
from jury_cases.transcripts.reading import is_message
from jury_events.text import visible_line

RowData = dict[str, Any] | list[Any]
"""An object, or a bare list of chat messages."""


class FileRow(NamedTuple):
    """A decoded row of a file.

    Attributes:
        place: its position, for messages: `file.jsonl:12`, `file.parquet: row 12`, `log.eval: sample 3 (epoch 1)`.
        line: its first line, from 1; the row's number if the file has no lines.
        number: its number in the file, from 1; for JSONL the line.
        data: an object, or a bare list of chat messages.
        file: the file's name without folder and extensions, for default case ids.
        name: the file's name in messages.
        folder: the base of relative paths in the row.
        size: characters of the row in the file; 0 if they are not counted.
        changes: what of it was read as something else, in words.
        texts: its values are cells of a table of texts, in which a word may stand for a missing value.
    """

    place: str
    line: int
    number: int
    data: RowData
    file: str
    name: str = ""
    folder: Path = Path()
    size: int = 0
    changes: tuple[str, ...] = ()
    texts: bool = False

    @property
    def position(self) -> str:
        """`place` without the folders of the file, which say more of the machine than of the row."""
        return PurePath(self.name).name + self.place.removeprefix(self.name)


class RowSource(NamedTuple):
    """The file that rows are read from: `name`, `file` and `folder` as in `FileRow`."""

    name: str
    file: str = ""
    folder: Path = Path()

    def row(self, line: int, number: int, data: RowData, size: int = 0) -> FileRow:
        return FileRow(f"{self.name}:{line}", line, number, data, self.file, self.name, self.folder, size)

    def numbered(self, number: int, data: RowData, place: str | None = None) -> FileRow:
        """A row of a file that has no lines; `place` is within the file."""
        where = f"{self.name}: {place or f'row {number}'}"
        return FileRow(where, number, number, data, self.file, self.name, self.folder)


LINE_ENDS = "CR LF, or CR in a table, as a line end"


def with_line_ends(value: Any) -> Any:
    """A decoded value with the line ends CR LF of its texts as LF."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    if isinstance(value, list):
        return [with_line_ends(one) for one in value]
    return {name: with_line_ends(one) for name, one in value.items()} if isinstance(value, dict) else value


def refuse(error: CaseFileError) -> None:
    """Raise the error of a row that cannot be read."""
    raise error


class RowSelection(NamedTuple):
    """Selects rows of the files.

    Attributes:
        rows_path: the dotted path from each object of a file to its list of rows (`--rows`).
        split: the split of a folder in the layout of Hugging Face `datasets` (`--split`).
        natural_rows: returns such a path for a JSON object of a known shape, else None; used if `rows_path` is None.
            A document of a known shape may contain NaN, read as None.
        is_known: whether a format of its own knows a row; it chooses a table of a database.
        leave_out: called with the error of a line or file that cannot be read, where the rest of the files can; it
            raises the error, or notes it.
    """

    rows_path: str | None = None
    split: str | None = None
    natural_rows: Callable[[Mapping[str, Any]], str | None] = lambda _document: None
    leave_out: Callable[[CaseFileError], None] = refuse
    is_known: Callable[[Any], bool] = lambda _row: False


def row_data(value: Any, place: str) -> RowData:
    """Check that a decoded JSON value can be a row's data."""
    value = decoded_json(value)  # as some programs write JSON twice
    if isinstance(value, dict) or (isinstance(value, list) and value and is_message(value[0])):
        return value
    raise CaseFileError(
        f"{place}: a row must be a JSON object, not {kind_of(value)}: a value without a name may be any part of "
        'a case; write {"question": …, "response": …}, or messages with their roles'
    )


def rows_of_list(values: list[Any], place: str) -> Iterator[RowData]:
    """The rows in a decoded list; a list of chat messages is one row."""
    if values and is_message(values[0]):
        yield values
        return
    for number, value in enumerate(values, start=1):
        yield row_data(value, f"{place} row {number}")


def kind_of(value: Any) -> str:
    """The JSON type of a decoded value, for messages."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("bytes" if isinstance(value, bytes) else "a number")


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
            if of_json and isinstance(row.data, dict) and len(row.data) == 1:
                row = row._replace(data=_unwrapped(row.data, selection))  # noqa: PLW2901
            yield row
            continue
        for index, data in enumerate(_found(row, path), start=1):
            number += 1
            place = f"{row.place}: {visible_line(path)} row {index}"
            yield row._replace(place=place, number=number, data=_with_eval(data, row.data, path))


def _unwrapped(data: dict[str, Any], selection: RowSelection) -> RowData:
    """The one object in a document such as `{"data": {…}}`, if that has a format of its own."""
    (inner,) = data.values()
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
