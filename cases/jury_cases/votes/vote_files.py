"""Reads the votes of files as the table of ballots, and checks them over all rows.

And labels that people gave later than the cases: one row a case and annotator.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVIDENCE, MESSAGES, OWN_WORDS, READING, REASONING, SCHEMA
from jury_cases.columns import AUTOMATIC, listing, value_at
from jury_cases.containers.rows import read_rows
from jury_cases.errors import CaseFileError
from jury_cases.votes.seats import EVERY_JUDGE, VoteOptions, flag_of, name_of, whole_number
from jury_cases.votes.vote_rows import Annotations, Values, VoteRowReader, VotesOfRow
from jury_cases.votes.words import VerdictWords
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line

PLACE = "place"
"""The column with the position of each row in its file, for messages."""

FURTHER = tuple(field.name for field in (*MESSAGES, *EVIDENCE, *READING, *REASONING, *OWN_WORDS))
"""Columns that ballots may have beside those of `SCHEMA`."""

_FIELDS = {field.name: field for field in (*SCHEMA, *MESSAGES, *EVIDENCE, *READING, *REASONING, *OWN_WORDS)}
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


_SAME_IN_A_DEBATE = (
    *("case_id", "run_id", "cluster", "variant", "repeat", "panel", "label", "simulated", "final_verdict"),
    *("label_message", "message_count", "outcome_correct"),
    *("final_label", "human_label"),
)
_KEY = ("debate_id", "round", "role", "seat")


def checked_votes(collected: pa.Table) -> pa.Table:
    """The ballots, sorted by debate, round, role and seat. Columns of `FURTHER` without a value are left out.

    A fact of a debate that only some of its rows have is filled in the others; a cluster that none has is the case id.

    Args:
        collected: the columns of the ballots table with dictionary-encoded texts, those of `FURTHER`, and `PLACE`.
    """
    table = collected.unify_dictionaries()
    del collected  # a copy of a million votes less
    order = pc.sort_indices(
        pa.table({name: _ranks(table[name]) for name in _KEY}), sort_keys=[(name, "ascending") for name in _KEY]
    )
    table = table.take(order).combine_chunks()
    _check_once(table)
    for name in _SAME_IN_A_DEBATE:
        table = table.set_column(table.schema.get_field_index(name), name, _one_a_debate(table, name))
    clusters = pc.coalesce(_plain(table["cluster"]), _plain(table["case_id"])).dictionary_encode()
    table = table.set_column(table.schema.get_field_index("cluster"), "cluster", clusters)
    known = [name for name in FURTHER if table[name].null_count < table.num_rows]
    return table.select([*SCHEMA.names, *known])


def _check_once(table: pa.Table) -> None:
    if table.num_rows < 2:  # noqa: PLR2004  (one row is not there twice)
        return
    same: Any = None
    for name in _KEY:
        codes = _codes(table[name])
        equal = pc.equal(codes.slice(1), codes.slice(0, len(codes) - 1))
        same = equal if same is None else pc.and_(same, equal)
    row = pc.index(same, pa.scalar(value=True)).as_py()
    if row < 0:
        return
    first, second = (table.slice(number, 1).to_pylist()[0] for number in (row, row + 1))
    raise CaseFileError(
        f"{second[PLACE]}: a second vote of {visible_line(second['seat'], 60)!r} in round {second['round']} of debate "
        f"{visible_line(second['debate_id'], 120)!r}, the first is at {first[PLACE]}; keep one, or name what "
        "distinguishes them: --field round=COLUMN, repeat=COLUMN, variant=COLUMN or debate_id=COLUMN"
    )


def _one_a_debate(table: pa.Table, name: str) -> pa.Array:
    column = _whole(table[name])
    if column.null_count == len(column):
        return column
    debates, codes = _codes(table["debate_id"]), _codes(column)
    found = (
        pa.table({"debate": debates, "code": codes}).group_by("debate").aggregate([("code", "min"), ("code", "max")])
    )
    contrary = pc.index(pc.not_equal(found["code_min"], found["code_max"]), pa.scalar(value=True)).as_py()
    if contrary >= 0:
        _refuse(
            table, name, codes, [found[side][contrary] for side in ("code_min", "code_max")], found["debate"][contrary]
        )
    if not column.null_count:
        return column
    found = found.sort_by("debate")
    filled = found["code_min"].combine_chunks().take(debates)
    if not pa.types.is_dictionary(column.type):
        return filled.cast(column.type)
    return pa.DictionaryArray.from_arrays(filled.cast(pa.int32()), column.dictionary)


def _refuse(table: pa.Table, name: str, codes: pa.Array, sides: list[pa.Scalar], debate: pa.Scalar) -> None:
    of_debate = pc.equal(_codes(table["debate_id"]), debate)
    rows = sorted(pc.index(pc.and_(of_debate, pc.equal(codes, side)), pa.scalar(value=True)).as_py() for side in sides)
    one, other = (table.slice(row, 1).to_pylist()[0] for row in rows)
    raise CaseFileError(
        f"{other[PLACE]}: {name}: debate {visible_line(other['debate_id'], 120)!r} has "
        f"{visible_line(str(other[name]), 60)!r} here and {visible_line(str(one[name]), 60)!r} at {one[PLACE]}; "
        "all votes of a debate must have the same; mend one, or name the column of debates: --field debate_id=COLUMN"
    )


def _ranks(column: pa.ChunkedArray) -> pa.Array:
    whole = _whole(column)
    if not pa.types.is_dictionary(whole.type):
        return whole
    return pc.rank(whole.dictionary, sort_keys="ascending", tiebreaker="dense").take(whole.indices)


def _codes(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    whole = _whole(column)
    return whole.indices if pa.types.is_dictionary(whole.type) else whole.cast(pa.int64())


def _plain(column: pa.ChunkedArray) -> pa.Array:
    return _whole(column).cast(pa.string())


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column in one piece, without a copy if it is one."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.unify_dictionaries().chunks) if column.num_chunks else pa.array([], column.type)


_SHOWN = 20


class RecordedVotes(NamedTuple):
    """The votes of files.

    Attributes:
        ballots: `jury_analysis.ballots.SCHEMA`, and the columns of `FURTHER` that have a value; texts
            dictionary-encoded, sorted by debate, round, role and seat.
        labels: `jury_analysis.ballots.LABELS` of human annotators in the same files; None: none were asked for,
            and no row is one.
    """

    ballots: pa.Table
    labels: pa.Table | None


def read_votes(
    paths: Iterable[str | os.PathLike[str]], options: VoteOptions | None = None, *, stdin: BinaryIO | None = None
) -> RecordedVotes:
    """The votes of the files: CSV, JSON, JSONL, Parquet or Arrow.

    A row is one vote (`seat`, `verdict`, …), or all votes on a case: a column `judges` with an object of them, or the
    columns of `VoteOptions.judges`. The same votes give the same table, whatever the form and order of the rows.

    Args:
        paths: files, folders and globs; `-` is standard input.
        options: how rows are read; None: by the default names of columns.
        stdin: the stream for `-`; None: the process's.
    """
    return read_votes_of([(paths, options or VoteOptions())], stdin=stdin)


def read_votes_of(
    groups: Iterable[tuple[Iterable[str | os.PathLike[str]], VoteOptions]], *, stdin: BinaryIO | None = None
) -> RecordedVotes:
    """The votes of files that are read in several ways, as one table.

    Args:
        groups: files, folders and globs, and how their rows are read. All name the same seats.
        stdin: as of `read_votes`.
    """
    collected: list[VoteColumns | SeatVoteColumns] = []
    seats: set[str] = set()
    annotations = Annotations()
    annotated = False
    wanted: Sequence[str] = ()
    for paths, options in groups:
        collected.append(_collected(paths, options, seats, annotations, stdin))
        annotated = annotated or bool(options.annotators)
        wanted = options.seats
    _check_seats(wanted, seats)
    ballots = checked_votes(pa.concat_tables([collected.pop(0).table() for _ in range(len(collected))]))
    return RecordedVotes(ballots, annotations.table() if annotated or annotations else None)


def _collected(
    paths: Iterable[str | os.PathLike[str]],
    options: VoteOptions,
    seats: set[str],
    annotations: Annotations,
    stdin: BinaryIO | None,
) -> VoteColumns | SeatVoteColumns:
    """The votes of files that are read alike; seats and annotations are added to."""
    reader = VoteRowReader(options)
    columns: VoteColumns | SeatVoteColumns | None = None
    listed = ""
    rows = read_rows([os.fspath(path) for path in paths], stdin=stdin)
    for row in rows:
        try:
            found = reader.read(row.data, f"{row.file}-{row.number}")
        except CaseFileError as error:
            raise CaseFileError(f"{row.place}: {error}") from error
        if columns is None:
            listed = listing(row.data)
            columns = VoteColumns() if reader.judges is None else SeatVoteColumns()
        columns.add(row.place, found)
        if found.labels:
            annotations.add(row.place, found.debate["case_id"], found.labels)
    assert columns is not None, "a file without a row is refused"
    if not reader.seats:
        raise CaseFileError(_no_column("--judges", options.judges or [EVERY_JUDGE], listed))
    if reader.judges is not None and (missed := reader.judges.missed):
        field = visible_line(f"{missed[0]}={options.fields[missed[0]]}")
        raise CaseFileError(f"--field {field}: no vote has such a field; the first row has {listed}")
    if options.annotators and not reader.annotators:
        raise CaseFileError(_no_column("--annotators", options.annotators, listed))
    seats |= reader.seats
    return columns


def _check_seats(wanted: Sequence[str], known: set[str]) -> None:
    """Refuse seats of which no file has a vote: they are mistyped."""
    seats = sorted(known)
    for seat in wanted:
        if seat not in known:
            more = f" and {len(seats) - _SHOWN} more" if len(seats) > _SHOWN else ""
            shown = ", ".join(visible_line(one, 60) for one in seats[:_SHOWN]) + more
            raise CaseFileError(
                f"--seats {visible_line(seat, 60)!r}: there is no vote of it{did_you_mean(seat, seats)}; "
                f"the seats are {shown}"
            )


def _no_column(flag: str, patterns: Sequence[str], listed: str) -> str:
    return f"{flag} {visible_line(' '.join(patterns))}: no row has such a column; the first row has {listed}"


ONLY_ANNOTATOR = "human"
"""The annotator of files that name none."""

_COLUMNS = {
    "case_id": AUTOMATIC["case_id"],
    "label": ("label", "expected_verdict", "verdict", "human_label"),
    "annotator": ("annotator", "annotator_id", "rater"),
    "decisive_message": ("decisive_message", "label_message"),
    "outcome_correct": ("outcome_correct",),
}
_NEEDED = ("case_id", "label")

_NAMED_AS = {"seat": "annotator", "label_message": "decisive_message"}
"""Parts of a vote whose columns are those of a label: what a file of votes calls so."""


class LabelFile(NamedTuple):
    """A file of labels, what words of its labels mean, and which columns are read where they have other names.

    `fields` are columns (dotted if nested) by part: `case_id`, `label`, `annotator` (or `seat`), `decisive_message` (or
    `label_message`), `outcome_correct`; "" leaves the part out.
    """

    path: str | os.PathLike[str]
    words: VerdictWords
    fields: Mapping[str, str] = MappingProxyType({})


def read_labels(
    paths: Iterable[str | os.PathLike[str]], words: VerdictWords | None = None, *, stdin: BinaryIO | None = None
) -> pa.Table:
    """The labels of the files: CSV, JSON, JSONL, Parquet or Arrow with `case_id`, `label` and optionally `annotator`,
    `decisive_message` (the first message that went wrong) and `outcome_correct`.

    A null label is none: the annotator has not labelled the case.

    Args:
        paths: files, folders and globs; `-` is standard input.
        words: what words of labels mean; None: verdicts of Jury Judge and their synonyms.
        stdin: the stream for `-`; None: the process's.

    Returns:
        `jury_analysis.ballots.LABELS` and those of `LABEL_FACTS` that have a value, sorted by case and annotator.
    """
    return read_labels_of([LabelFile(path, words or VerdictWords()) for path in paths], stdin=stdin)


def read_labels_of(files: Iterable[LabelFile], *, stdin: BinaryIO | None = None) -> pa.Table:
    """The labels of files, each of which has words and columns of its own.

    Args:
        files: as of `read_labels`.
        stdin: as of `read_labels`.
    """
    annotations = Annotations()
    first = ""
    for file in files:
        first = first or os.fspath(file.path)
        reader = _LabelReader(file)
        for row in read_rows([os.fspath(file.path)], stdin=stdin):
            try:
                said = reader.read(row.data)
            except CaseFileError as error:
                raise CaseFileError(f"{row.place}: {error}") from error
            if said.label is not None:
                annotations.add(row.place, said.case_id, [(said.annotator, said.label)], facts=said.facts, once=True)
    table = annotations.table()
    if not table.num_rows:
        raise CaseFileError(f"{first}: every label is empty; there is nothing to compare votes with")
    return table


class _Label(NamedTuple):
    case_id: str
    annotator: str
    label: str | None
    facts: dict[str, Any]


class _LabelReader:
    def __init__(self, file: LabelFile) -> None:
        self._words = file.words
        named = {_NAMED_AS.get(part, part): column for part, column in file.fields.items()}
        self._fields = {part: column for part, column in named.items() if part in _COLUMNS}

    def read(self, row: Any) -> _Label:
        if not isinstance(row, dict):
            raise CaseFileError("a row of labels must be an object with case_id and label")
        found = {part: self._value(row, part, columns) for part, columns in _COLUMNS.items()}
        case_id = None if found["case_id"] is None else name_of(found["case_id"], "case_id")
        if case_id is None:
            raise CaseFileError("case_id: it is empty; every label needs the case that it is of")
        annotator = None if found["annotator"] is None else name_of(found["annotator"], "annotator")
        facts = {
            part: read(found[part], part)
            for part, read in _FACTS.items()
            if found[part] is not None and not (isinstance(found[part], str) and not found[part].strip())
        }
        return _Label(case_id, annotator or ONLY_ANNOTATOR, self._words.meaning(found["label"], "label"), facts)

    def _value(self, row: dict[str, Any], part: str, columns: tuple[str, ...]) -> Any:
        if (named := self._fields.get(part)) is not None:
            return value_at(row, named, part) if named else None
        known = [column for column in columns if column in row]
        if not known and part in _NEEDED:
            raise CaseFileError(f"{part}: missing; name a column {' or '.join(columns)}; the row has {listing(row)}")
        return next((row[column] for column in known if row[column] is not None), None)


_FACTS: dict[str, Callable[[Any, str], Any]] = {
    "decisive_message": lambda written, part: whole_number(written, part, 0),
    "outcome_correct": flag_of,
}
"""How the parts beside a label are read; a blank cell says nothing."""
