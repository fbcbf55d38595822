"""What a reading of files keeps on disk: rows that ask, until rows that answer come, and the ids of the cases so far.

Rows that answer are joined by an id with the rows that ask, of the same file or another one; an id that comes twice is
refused with both of its places.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from jury_cases.containers.row import FileRow, RowData
from jury_cases.errors import CaseFileError
from jury_cases.omissions import UnreadableRows
from jury_cases.transcripts.json_values import as_text
from jury_events.text import visible_line


def temporary_database(tables: str, cache_kib: int = 8 * 1024) -> sqlite3.Connection:
    """A database in memory until it outgrows its cache, then in a file without a name, gone with the connection."""
    database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    database.executescript(
        f"PRAGMA cache_size = -{cache_kib}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;{tables} BEGIN"
    )
    return database


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

_KEYS = frozenset(one.key for one in ROW_PAIRS)


def joined_rows(rows: Iterable[FileRow], unreadable: UnreadableRows) -> Iterator[FileRow]:
    """The rows, those that answer with what they answer; the others in their order.

    A row that answers nothing that was asked so far waits for the rest of the rows. A request that no row answers is
    an error of its own, where any row answers.
    """
    store: _Store | None = None
    for row in rows:
        if not isinstance(row.data, dict) or _KEYS.isdisjoint(row.data) or (pair := _pair_of(row.data)) is None:
            yield row
            continue
        store = store or _Store()
        key = f"{ROW_PAIRS.index(pair)} {as_text(row.data.get(pair.key))}"
        if pair.answers.isdisjoint(row.data):
            store.ask(key, row)
        elif (asked := store.asked(key)) is not None:
            yield _with(row, pair, asked)
        elif pair.into in row.data:
            yield row
        else:
            store.wait(key, row)
    if store is not None:
        yield from store.rest(unreadable)


def _pair_of(data: RowData) -> RowPair | None:
    """The pair that an object belongs to: it has the key, and asks or answers."""
    return next((one for one in ROW_PAIRS if one.key in data and not (one.asks | one.answers).isdisjoint(data)), None)


def _with(row: FileRow, pair: RowPair, asked: Any) -> FileRow:
    return row._replace(data={**row.data, pair.into: asked})  # type: ignore[dict-item]


class _Store:
    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE asked (number INTEGER PRIMARY KEY, key TEXT UNIQUE, used INT, row TEXT);"
            "CREATE TABLE waiting (key TEXT, row TEXT);"
        )
        self._answers = False

    def ask(self, key: str, row: FileRow) -> None:
        self._run("INSERT OR REPLACE INTO asked (key, used, row) VALUES (?, 0, ?)", (key, _text(row)), row)

    def wait(self, key: str, row: FileRow) -> None:
        self._answers = True
        self._run("INSERT INTO waiting VALUES (?, ?)", (key, _text(row)), row)

    def asked(self, key: str) -> Any:
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
            asked, pair = self.asked(key), _pair_of(row.data)
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


_DIGEST_BYTES = 16
"""Of an id's hash: among 10^9 cases a collision has a probability of 10^-21."""


class SeenIds:
    """The ids, with the positions of their rows, on disk where they are many."""

    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, place TEXT, name TEXT, line INT, number INT) WITHOUT ROWID;"
        )

    def close(self) -> None:
        """Forget them."""
        self._database.close()

    def add(self, case_id: str, row: FileRow) -> None:
        """Take the id of a row; raises CaseFileError where an earlier one has it."""
        digest = blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        try:
            self._database.execute(
                "INSERT INTO seen VALUES (?, ?, ?, ?, ?)", (digest, row.place, row.name, row.line, row.number)
            )
        except sqlite3.IntegrityError as error:
            found = self._database.execute("SELECT place, name, line, number FROM seen WHERE digest = ?", (digest,))
            raise CaseFileError(_duplicate(visible_line(case_id, 120), row, found.fetchone())) from error
        except sqlite3.Error as error:
            raise CaseFileError(
                f"{row.place}: the case ids cannot be kept in a temporary file: {error}; make room, or set TMPDIR"
            ) from error


def _duplicate(case_id: str, row: FileRow, first: tuple[str, str, int, int]) -> str:
    place, name, line, number = first
    if not name:
        return f"{row.place}: its id {case_id!r} is also the id of {place}; give each case a different id"
    if (name, number) == (row.name, row.number):
        return f"{row.place}: the file is named twice; name it once"
    if name != row.name:
        return f"{row.place}: case id {case_id!r} is also at {place}; give each case a different id"
    rows = f"rows {number} and {row.number}"
    if line == row.line:
        rows = f"in {rows} of the file"
    elif place == f"{name}:{line}":
        rows = f"on lines {line} and {row.line}"
    else:
        rows = f"in {rows}"
    return f"{row.place}: case id {case_id!r} is {rows}; give each case a different id"
