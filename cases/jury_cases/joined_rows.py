"""The rows of files with their formats: one is a case, or several are, gathered, or joined from two files by an id.

Rows that only ask are kept in a temporary database on disk; a row with the answer is read with what was asked in it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from jury_cases.containers.row import FileRow
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_cases.formats.format import Format, Gathering
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import format_of, second_of
from jury_cases.omissions import UnreadableRows
from jury_cases.transcripts.json_values import as_object, as_text
from jury_events.text import visible_line

_CACHE_KIB = 8 * 1024


class RowPair(NamedTuple):
    """Two kinds of rows that belong together.

    Attributes:
        key: the column of the id, in both.
        asks: columns of which a row that asks has one; one with `answers` asks nothing of another.
        answers: columns of which a row that answers has one.
        into: the column that gets the row that asks.
    """

    key: str
    asks: frozenset[str]
    answers: frozenset[str]
    into: str


ROW_PAIRS = (
    RowPair("custom_id", frozenset({"body", "params"}), frozenset({"response", "result", "error"}), "request"),
    RowPair("key", frozenset({"request"}), frozenset({"response", "error"}), "request"),
    RowPair("question_id", frozenset({"turns"}), frozenset({"choices"}), "question_row"),
)
"""Batches of OpenAI, Groq, Anthropic, and of Gemini; questions and answers of MT-bench."""


def joined_rows(rows: Iterable[FileRow], unreadable: UnreadableRows) -> Iterator[FileRow]:
    """The rows, those that answer with what they answer; the others in their order.

    A row that answers nothing that was asked so far waits for the rest of the rows. A request that no row answers is
    an error of its own, where any row answers.
    """
    store: _Store | None = None
    for row in rows:
        pair, answers = _pair_of(row.data)
        if pair is None or not isinstance(row.data, dict):
            yield row
            continue
        store = store or _Store()
        key = f"{ROW_PAIRS.index(pair)} {as_text(as_object(row.data).get(pair.key))}"
        if not answers:
            store.ask(key, row)
        elif (asked := store.asked(key)) is not None:
            yield _with(row, pair, asked)
        elif pair.into in row.data:
            yield row
        else:
            store.wait(key, row)
    if store is not None:
        yield from store.rest(unreadable)


def _pair_of(data: Any) -> tuple[RowPair | None, bool]:
    if isinstance(data, dict):
        for one in ROW_PAIRS:
            if one.key in data:
                answers = not one.answers.isdisjoint(data)
                if answers or not one.asks.isdisjoint(data):
                    return one, answers
    return None, False


def _with(row: FileRow, pair: RowPair, asked: Any) -> FileRow:
    return row._replace(data={**row.data, pair.into: asked})  # type: ignore[dict-item]


class _Store:
    """The rows that ask, and those that wait for them."""

    def __init__(self) -> None:
        # An empty name: in memory until it outgrows the cache, then in a file that is deleted with the connection.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.executescript(
            f"PRAGMA cache_size = -{_CACHE_KIB}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE asked (number INTEGER PRIMARY KEY, key TEXT UNIQUE, used INT, row TEXT);"
            "CREATE TABLE waiting (key TEXT, row TEXT); BEGIN"
        )
        self._answers = False

    def ask(self, key: str, row: FileRow) -> None:
        self._run("INSERT OR REPLACE INTO asked (key, used, row) VALUES (?, 0, ?)", (key, _text(row)), row)

    def wait(self, key: str, row: FileRow) -> None:
        self._answers = True
        self._run("INSERT INTO waiting VALUES (?, ?)", (key, _text(row)), row)

    def asked(self, key: str) -> Any:
        """The data of the row that asked; None: none did so far."""
        self._answers = True
        found = self._database.execute("SELECT row FROM asked WHERE key = ?", (key,)).fetchone()
        if found is None:
            return None
        self._database.execute("UPDATE asked SET used = 1 WHERE key = ?", (key,))
        return _row(found[0]).data

    def rest(self, unreadable: UnreadableRows) -> Iterator[FileRow]:
        """The rows that waited; then those that asked, as they are where nothing answers at all."""
        for key, text in self._database.execute("SELECT key, row FROM waiting ORDER BY rowid").fetchall():
            row = _row(text)
            asked, (pair, _) = self.asked(key), _pair_of(row.data)
            yield row if asked is None or pair is None else _with(row, pair, asked)
        for key, text in self._database.execute("SELECT key, row FROM asked WHERE used = 0 ORDER BY number"):
            row = _row(text)
            if not self._answers:
                yield row
                continue
            shown = visible_line(key.partition(" ")[2], 80)
            unreadable.leave_out(
                CaseFileError(f"{row.place}: no row of the named files answers {shown}; name the file of failures too")
            )

    def _run(self, statement: str, values: tuple[str, str], row: FileRow) -> None:
        try:
            self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise CaseFileError(
                f"{row.place}: requests cannot be kept in a temporary file: {error}; make room, or set TMPDIR"
            ) from error


def _text(row: FileRow) -> str:
    return json.dumps([*row._replace(folder=str(row.folder))], ensure_ascii=False)  # type: ignore[arg-type]


def _row(text: str) -> FileRow:
    found = FileRow(*json.loads(text))
    return found._replace(folder=Path(found.folder))


_NAMED = 100
"""Characters of a name in an error."""


class FoundRow(NamedTuple):
    """What one case is read from.

    Attributes:
        row: of the file; the first one of a case that is made of several rows.
        data: what the format reads: the row's data, or the gathered rows.
        form: its format.
        suffix: appended to the default id.
        name: what errors call it beside its place; "" if the place is enough.
        is_incomplete: lines of its file cannot be read, and may belong to this case.
        changes: what of its rows was read as something else.
        second: the name of the format that recognises its first row too; "": there is none.
    """

    row: FileRow
    data: Any
    form: Format
    suffix: str = ""
    name: str = ""
    is_incomplete: bool = False
    changes: tuple[str, ...] = ()
    second: str = ""

    @property
    def default_id(self) -> str:
        """The id of a case whose data has none: file and row number."""
        return f"{self.row.file}-{self.row.number}{self.suffix}"


class _Gathered:
    """The rows of one file that are gathered by one format."""

    def __init__(self, first: FileRow, form: Format, gathering: Gathering, second: str) -> None:
        self._first = first
        self._second = second
        self._form = form
        self._gathering = gathering
        self._changes: dict[str, None] = {}

    def takes(self, row: FileRow, asked: Format | None) -> bool:
        if row.name != self._first.name:
            return False
        return self._gathering.takes(row.data) or format_of(row.data, asked) is self._form

    def add(self, row: FileRow, unreadable: UnreadableRows) -> None:
        """Add a row; one that cannot be read is left out, or refused."""
        try:
            with at_place(row):
                self._gathering.add(row)
            self._changes |= dict.fromkeys(row.changes)
        except CaseFileError as error:
            unreadable.leave_out(error)

    def found(self, unreadable: UnreadableRows) -> Iterator[FoundRow]:
        cases = self._gathering.cases()
        is_incomplete = unreadable.lacks(self._first.name)
        while True:
            row = self._first
            try:
                with at_place(row):
                    one = next(cases, None)
                if one is None:
                    return
                if isinstance(one.data, CaseFileError):
                    with at_place(one.row):
                        raise one.data
            except CaseFileError as error:
                unreadable.leave_out(error)
                continue
            changes = tuple(self._changes)
            yield FoundRow(one.row, one.data, self._form, one.suffix, one.name, is_incomplete, changes, self._second)


def found_rows(rows: Iterable[FileRow], asked: Format | None, unreadable: UnreadableRows) -> Iterator[FoundRow]:
    """What the cases of files are read from, in order; gathered cases follow the last row of their file.

    Args:
        asked: the format of all rows; None: the format of each row is detected.
    """
    gathered: _Gathered | None = None
    seconds: dict[str, str] = {}
    for row in rows:
        if gathered is not None:
            if gathered.takes(row, asked):
                gathered.add(row, unreadable)
                continue
            yield from gathered.found(unreadable)
            gathered = None
        form = format_of(row.data, asked)
        if form.name not in seconds:
            other = None if asked is not None or form is OWN_ROWS else second_of(row.data, form)
            seconds[form.name] = "" if other is None else other.name
        if form.cases is not None:
            yield from _cases_of(row, form, form.cases, unreadable)
        elif form.gather is None:
            yield FoundRow(row, row.data, form, changes=row.changes, second=seconds[form.name])
        else:
            gathered = _Gathered(row, form, form.gather(), seconds[form.name])
            gathered.add(row, unreadable)
    if gathered is not None:
        yield from gathered.found(unreadable)


def _cases_of(
    row: FileRow, form: Format, cases: Callable[[Any], list[Any]], unreadable: UnreadableRows
) -> Iterator[FoundRow]:
    try:
        with at_place(row):
            found = cases(row.data)
    except CaseFileError as error:
        unreadable.leave_out(error)
        return
    for number, data in enumerate(found, start=1):
        yield FoundRow(row, data, form, f"-{number}", f"case {number}", changes=row.changes)


@contextmanager
def at_place(row: FileRow, name: str = "") -> Iterator[None]:
    """Errors name the place of the row, and what is read there (`name`)."""
    try:
        yield
    except (CaseFileError, ArtifactSourceError) as error:
        place = f"{row.place}: {visible_line(name, _NAMED)}" if name else row.place
        text = str(error)
        raise CaseFileError(text if text.startswith(row.place) else f"{place}: {text}") from error
