"""Reads the votes of files as the table of ballots."""

import os
from collections.abc import Iterable, Sequence
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from jury_cases.columns import listing
from jury_cases.containers.rows import read_rows
from jury_cases.errors import CaseFileError
from jury_cases.votes.annotations import Annotations
from jury_cases.votes.debate_facts import checked_votes
from jury_cases.votes.options import VoteOptions
from jury_cases.votes.seat_columns import EVERY_JUDGE
from jury_cases.votes.vote_columns import SeatVoteColumns, VoteColumns
from jury_cases.votes.vote_rows import VoteRowReader
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line

_SHOWN = 20


class RecordedVotes(NamedTuple):
    """The votes of files.

    Attributes:
        ballots: `jury_analysis.ballots.SCHEMA`, and the columns of `vote_columns.FURTHER` that have a value; texts
            dictionary-encoded, sorted by debate, round, role and seat.
        labels: `jury_analysis.label_schema.LABELS` of human annotators in the same files; None: none were asked for,
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
