"""Collects the votes of rows as columns of Arrow, a few thousand rows at a time."""

from typing import NamedTuple

import pyarrow as pa

from jury_analysis.ballots import EVIDENCE, MESSAGES, OWN_WORDS, READING, SCHEMA
from jury_cases.votes.vote_rows import Values, VotesOfRow

PLACE = "place"
"""The column with the position of each row in its file, for messages."""

FURTHER = tuple(field.name for field in (*MESSAGES, *EVIDENCE, *READING, *OWN_WORDS))
"""Columns that ballots may have beside those of `SCHEMA`."""

_FIELDS = {field.name: field for field in (*SCHEMA, *MESSAGES, *EVIDENCE, *READING, *OWN_WORDS)}
_COLLECTED = (*_FIELDS, PLACE)

_ROWS = 16_384
_DEFAULTS: Values = {"role": "juror", "simulated": False}
_TEXT = pa.dictionary(pa.int32(), pa.string())


def column_type(name: str) -> pa.DataType:
    """The type in which a column is collected: texts are dictionary-encoded, because most of them repeat."""
    if name == PLACE:
        return _TEXT
    kind = _FIELDS[name].type
    return _TEXT if pa.types.is_string(kind) else kind


class VoteColumns:
    """Votes of rows of one vote each."""

    def __init__(self) -> None:
        self._rows: list[Values] = []
        self._tables: list[pa.Table] = []

    def add(self, place: str, row: VotesOfRow) -> None:
        """Add the votes of a row at this position of its file."""
        for seat, vote in row.votes:
            self._rows.append({PLACE: place, **_DEFAULTS, **row.debate, **vote, "seat": seat})
        if len(self._rows) >= _ROWS:
            self._flush()

    def table(self) -> pa.Table:
        """All votes in the order of their rows, with the columns of the ballots table, `FURTHER` and `PLACE`."""
        self._flush()
        tables, self._tables = self._tables, []
        return pa.concat_tables(tables)

    def _flush(self) -> None:
        self._tables.append(_table(self._rows, _COLLECTED))
        self._rows = []


class SeatVoteColumns:
    """Votes of rows with the votes of several seats."""

    def __init__(self) -> None:
        self._debates: list[Values] = []
        self._votes: dict[str, _SeatVotes] = {}
        self._number = 0
        self._tables: list[pa.Table] = []

    def add(self, place: str, row: VotesOfRow) -> None:
        """Add the votes of a row at this position of its file."""
        number = len(self._debates)
        self._debates.append({PLACE: place, **_DEFAULTS, **row.debate})
        for seat, vote in row.votes:
            votes = self._votes.get(seat)
            if votes is None:
                votes = self._votes[seat] = _SeatVotes([], [])
            votes.rows.append(number)
            votes.values.append(vote)
        self._number += 1 + len(row.votes)
        if self._number >= _ROWS:
            self._flush()

    def table(self) -> pa.Table:
        """As of `VoteColumns`."""
        self._flush()
        tables, self._tables = self._tables, []
        return pa.concat_tables(tables or [_table([], _COLLECTED)])

    def _flush(self) -> None:
        debates = _table(self._debates, _OF_A_DEBATE)
        for seat, votes in self._votes.items():
            named = pa.DictionaryArray.from_arrays(pa.array([0] * len(votes.rows), pa.int32()), pa.array([seat]))
            of_seat = debates.take(pa.array(votes.rows, pa.int32()))
            columns = {"seat": named, **_columns(of_seat), **_columns(_table(votes.values, _OF_A_VOTE))}
            self._tables.append(pa.table({name: columns[name] for name in _COLLECTED}))
        self._debates, self._votes, self._number = [], {}, 0


class _SeatVotes(NamedTuple):
    """Votes of one seat, with the numbers of their rows."""

    rows: list[int]
    values: list[Values]


_OF_A_VOTE = ("kind", "verdict", "score", "confidence", "model_asked", "decisive_message")
_OF_A_DEBATE = (*(name for name in _FIELDS if name not in {*_OF_A_VOTE, "seat"}), PLACE)


def _table(rows: list[Values], names: tuple[str, ...]) -> pa.Table:
    present = {name for row in rows for name in row}
    return pa.table({name: _column(rows, name) if name in present else _nulls(len(rows), name) for name in names})


def _column(rows: list[Values], name: str) -> pa.Array:
    kind = column_type(name)
    values = [row.get(name) for row in rows]
    return pa.array(values, pa.string()).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values, kind)


def _nulls(number: int, name: str) -> pa.Array:
    kind = column_type(name)
    if not pa.types.is_dictionary(kind):
        return pa.nulls(number, kind)
    return pa.DictionaryArray.from_arrays(pa.nulls(number, pa.int32()), pa.array([], pa.string()))


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))
