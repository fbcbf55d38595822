"""A decoded row, where it stands, and what of a file's rows is asked for."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jury_judge.cases.transcripts.reading import is_message
from jury_judge.errors import CaseFileError

RowData = dict[str, Any] | list[Any]
"""An object, or a bare list of chat messages."""


class CaseRow(NamedTuple):
    """A decoded row of a file.

    Attributes:
        place: where it stands, for messages: `file.jsonl:12`, `file.parquet: row 12`, `log.eval: sample 3 (epoch 1)`.
        line: the line where it begins, from 1; the row's number where the file has no lines.
        number: counts the rows of its file from 1; of JSONL it is the line.
        data: an object, or a bare list of chat messages.
        file: the file's name without folder and endings, for default case ids.
        name: what messages call the file.
        folder: where paths that the row names begin.
    """

    place: str
    line: int
    number: int
    data: RowData
    file: str
    name: str = ""
    folder: Path = Path()


class RowSource(NamedTuple):
    """The file that rows come from: what messages call it, its `CaseRow.file`, and its folder."""

    name: str
    file: str = ""
    folder: Path = Path()

    def row(self, line: int, number: int, data: RowData) -> CaseRow:
        """A row of a file that has lines."""
        return CaseRow(f"{self.name}:{line}", line, number, data, self.file, self.name, self.folder)

    def numbered(self, number: int, data: RowData, place: str | None = None) -> CaseRow:
        """A row of a file that has no lines; `place` is within the file."""
        where = f"{self.name}: {place or f'row {number}'}"
        return CaseRow(where, number, number, data, self.file, self.name, self.folder)


class RowSelection(NamedTuple):
    """Which rows of the files are meant.

    Attributes:
        rows_path: the dotted path from each object of a file to the list that holds its rows (`--rows`).
        split: the split of a folder as Hugging Face `datasets` lays it out (`--split`).
        natural_rows: gives the same path as `rows_path` for an object of JSON whose shape it knows, else None. It is
            asked where `rows_path` is None. A document of many lines that it knows may hold NaN, which is None.
    """

    rows_path: str | None = None
    split: str | None = None
    natural_rows: Callable[[Mapping[str, Any]], str | None] = lambda _document: None


def row_data(value: Any, place: str) -> RowData:
    """A decoded JSON value as the data of a row.

    Raises:
        CaseFileError: it is neither an object nor a list that begins with a chat message.
    """
    if isinstance(value, dict) or (isinstance(value, list) and value and is_message(value[0])):
        return value
    raise CaseFileError(f"{place}: a case must be a JSON object, not {kind_of(value)}")


def rows_of_list(values: list[Any], place: str) -> Iterator[RowData]:
    """The rows that a decoded list holds; a list of chat messages is one row.

    Raises:
        CaseFileError: an element can be no row.
    """
    if values and is_message(values[0]):
        yield values
        return
    for number, value in enumerate(values, start=1):
        yield row_data(value, f"{place} row {number}")


def kind_of(value: Any) -> str:
    """What a decoded value is, for a message."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("bytes" if isinstance(value, bytes) else "a number")
