"""The lists of debates, runs and ballots in the database: projected in batches, read with the events after those.

All functions work in the transaction of the connection.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    Text,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    type_coerce,
)

from jury_events.case import LABEL_METADATA, of_label
from jury_events.envelope import StoredEvent
from jury_events.ids import MOST_REPEATS, repeat_of, stream_debate, streams_of
from jury_events.parts import Digest
from jury_store import search_index
from jury_store.cached_calls import CachedCalls, parsed, summed
from jury_store.committed_events import (
    LISTS,
    CommittedEvents,
    OpenDebate,
    OpenDebates,
    checkpoint_position,
    lock_checkpoint,
    reset_checkpoint,
    set_checkpoint,
)
from jury_store.debate_ballots import DEBATE_COLUMNS, DebateBallots
from jury_store.debate_rows import (
    ALL_STAGES,
    CaseRow,
    DebateFilter,
    DebateRow,
    RunRow,
    Totals,
    indexed_values,
    row_fault,
)
from jury_store.errors import StoreDamaged
from jury_store.event_rows import DriverCursor, RowTypes, damaged_row, last_position, read_unchecked_events
from jury_store.list_order import PageCursor, SortOrder
from jury_store.list_queries import FIELDS_IN_COLUMNS, ballots_query, conditions, debates_query
from jury_store.list_rows import (
    SUMS,
    UNLIMITED,
    damage,
    folded_sheets,
    insert_rows,
    list_row,
    listed_rows,
    load_sheets,
    made_again,
    rows_by_id,
    run_leases,
    run_row,
    single_group,
    sum_groups,
    totals_by_run,
    update_rows,
)
from jury_store.projection import CASE_LABELLED, ListProjection, Row, debate_ids, opened_run, run_news
from jury_store.schema import UNFINISHED, WAITING, metadata
from jury_store.schema import ballots as ballots_table
from jury_store.schema import debates as debates_table
from jury_store.schema import runs as runs_table
from jury_store.search_terms import query_terms
from jury_store.sql_dialects import Dialect

_CHUNK = 500
_PAGE = 5000
"""Debates whose ballots are read at once: a few megabytes."""

_parts = metadata.tables["parts"]
_fields = metadata.tables["debate_fields"]
_REPEATS = tuple("%~%~" + "_" * digits for digits in range(1, len(str(MOST_REPEATS)) + 1))
"""The forms of the ids of repeats (`jury_events.ids.repeat_id`)."""

_OPENING = frozenset({"position", "run_id", "opened_at"})
"""Columns that no later event changes."""
_UNCHANGED = _OPENING | {"waiting", "ended_at", "imported", "problem"}

_ENDS = (
    debates_table.c.status,
    debates_table.c.waiting,
    debates_table.c.final_verdict,
    debates_table.c.final_label,
    debates_table.c.aside,
)
"""By which totals are grouped."""
_ENDED = RowTypes.of("debates", "debate_id", "position")
_LEFT = RowTypes.of("debates", "run_id", "position")
_CASE = (
    RowTypes.of("debates", "debate_id", "case_id", "status", "case_part")
    .joined(RowTypes.of("parts", "salt", outer=True))
    .joined(RowTypes.of("debates", "imported", "quarantined", "position", "label", "aside", "metadata"))
)
_BALLOTS = (
    RowTypes.of("debates", *DEBATE_COLUMNS, "metadata")
    .joined(RowTypes.of("ballots", "panel", "votes", outer=True))
    .joined(RowTypes.of("debates", "ended_at"))
)


def advance(
    connection: Connection, dialect: Dialect, limit: int, open_debates: OpenDebates, recent: CommittedEvents
) -> int:
    """Project the next `limit` events into the lists; returns how many there were.

    Args:
        limit: how many events at most.
        open_debates: of this process: pass the same one every time.
    """
    begin = lock_checkpoint(connection, dialect, LISTS)
    events = recent.after(connection, dialect, begin, limit)
    if not events:
        return 0
    ids = debate_ids(events)
    kept = open_debates.take(begin, ids)
    listed = listed_rows(connection, dialect, ids - kept.keys(), begin)
    stored, unstored = load_sheets(connection, dialect, listed.keys(), begin)
    rows = {**listed, **{name: one.row for name, one in kept.items()}}
    sheets = {**stored, **unstored, **{name: one.sheet for name, one in kept.items()}}
    known_debates, known_runs = set(rows), set[str]()
    waited = {name for name, row in rows.items() if row["waiting"]}
    projection = ListProjection(rows, {}, sheets)

    def load_runs(run_ids: Collection[str]) -> dict[str, Row]:
        found = rows_by_id(connection, runs_table, "run_id", run_ids)
        known_runs.update(found)
        return found

    projection.advance(events, load_runs)
    _save_debates(connection, dialect, projection.debates, known_debates, waited)
    labelled = {stream_debate(one.stream) for one in events if one.type == CASE_LABELLED}
    again = [projection.debates[name] for name in labelled & known_debates]
    if again:
        connection.execute(delete(_fields).where(_fields.c.position.in_([row["position"] for row in again])))
    new = (row for name, row in projection.debates.items() if name not in known_debates)
    _save_fields(connection, dialect, (*new, *again))
    _save(connection, dialect, runs_table, projection.runs, known_runs)
    _save_ballots(connection, dialect, projection, set(stored))
    end = events[-1].position
    set_checkpoint(connection, dialect, LISTS, end)
    left = {name: OpenDebate(row, sheets[name]) for name, row in projection.debates.items() if not has_ended(row)}
    open_debates.keep(end, left)
    recent.reached(LISTS, end)
    return len(events)


def clear(connection: Connection, dialect: Dialect) -> None:
    """Empty the lists; `advance` rebuilds them."""
    # First of all, as it locks the lists.
    reset_checkpoint(connection, dialect, LISTS)
    connection.execute(delete(debates_table))
    connection.execute(delete(_fields))
    connection.execute(delete(runs_table))
    connection.execute(delete(ballots_table))
    if dialect.clear_wrong_leases is not None:
        connection.exec_driver_sql(dialect.clear_wrong_leases)


def lag(connection: Connection, dialect: Dialect, name: str = LISTS) -> int:
    """How many events a projection has not reached yet."""
    return last_position(connection, dialect) - checkpoint_position(connection, name)


def debates_named(connection: Connection, dialect: Dialect, wanted: Collection[str]) -> dict[str, DebateRow]:
    """The rows of those debates that exist, up to date."""
    tail = _tail(connection, dialect, of=wanted)
    rows = listed_rows(connection, dialect, [one for one in wanted if one not in tail.debates])
    return {debate_id: DebateRow(**row) for debate_id, row in (rows | tail.debates).items()}


def debates(
    connection: Connection,
    dialect: Dialect,
    wanted: DebateFilter,
    order: SortOrder,
    *,
    limit: int,
    after: PageCursor | None,
) -> list[DebateRow]:
    """The selected rows, up to date.

    A row that the projection does not store, because the database was altered, is made again from its events, so that
    it stops no list; `list_faults` names it.
    """
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    # A debate of the tail may no longer match, or sort elsewhere: with that many rows more, enough remain.
    query = debates_query(dialect, wanted, order, limit=limit + len(tail.debates), after=after, text_matches=matches)
    found = {row["debate_id"]: list_row(row) for row in connection.execute(query).mappings()}
    damaged = {name: row for name, row in found.items() if row_fault(row) is not None and name not in tail.debates}
    for debate_id, row in made_again(connection, dialect, damaged).items():
        if order.cursor(row) != order.cursor(damaged[debate_id]):
            raise damage(damaged[debate_id])
        del found[debate_id]
        # It was selected by what was altered; its texts, which the search goes through, are the same.
        if wanted.matches(row, lambda _: True):
            found[debate_id] = row
    for debate_id, row in tail.debates.items():
        found.pop(debate_id, None)
        if order.is_after(row, after) and wanted.matches(row, matches.__contains__):
            found[debate_id] = row
    return [DebateRow(**row) for row in sorted(found.values(), key=order.key, reverse=order.descending)[:limit]]


def totals(connection: Connection, dialect: Dialect, wanted: DebateFilter) -> Totals:
    """Totals over the selected debates, up to date."""
    found = sum_groups(_groups(connection, dialect, wanted, *_ENDS))
    if wanted.only_waiting is False and wanted.status is None:
        found = replace(found, waiting=_waiting(connection, dialect, wanted._replace(waiting=True)))
    return found


def _waiting(connection: Connection, dialect: Dialect, wanted: DebateFilter) -> int:
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    query = select(func.count()).select_from(debates_table).where(*conditions(dialect, wanted, matches))
    if tail.debates:
        query = query.where(debates_table.c.debate_id.not_in(sorted(tail.debates)))
    fresh = sum(wanted.matches(row, matches.__contains__) for row in tail.debates.values())
    return connection.scalars(query).one() + fresh


def run_totals(connection: Connection, dialect: Dialect) -> dict[str, Totals]:
    """Totals of each run, up to date."""
    return totals_by_run(_groups(connection, dialect, ALL_STAGES, debates_table.c.run_id, *_ENDS))


def cached_calls(connection: Connection, dialect: Dialect, wanted: DebateFilter) -> tuple[CachedCalls, ...]:
    """Sums over the calls with prompt caches of the selected debates of known cost, up to date."""
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    columns = debates_table.c
    query = select(columns.debate_id, type_coerce(columns.cached_calls, Text)).where(
        *conditions(dialect, wanted, matches),
        columns.cost.is_not(None),
        columns.cached_input_tokens + columns.cache_write_tokens > 0,
    )
    found: tuple[CachedCalls, ...] = ()
    damaged: dict[str, Row] = {}

    def cached(debate_id: str, stored: str) -> tuple[CachedCalls, ...]:
        try:
            return parsed(stored)
        except ValueError:
            damaged[debate_id] = {"debate_id": debate_id}
            return ()

    for some in connection.execute(query).partitions(_PAGE):
        found = summed(chain(found, *(cached(*row) for row in some if row[0] not in tail.debates)))
    again = made_again(connection, dialect, damaged)
    found = summed(chain(found, *(row["cached_calls"] for row in again.values())))
    fresh = (row for row in tail.debates.values() if wanted.matches(row, matches.__contains__))
    return summed(chain(found, *(row["cached_calls"] for row in fresh if row["cost"] is not None)))


def _groups(connection: Connection, dialect: Dialect, wanted: DebateFilter, *groups: ColumnElement[Any]) -> list[Row]:
    """Sums over selected debates with equal `groups`; where these have no such type, as the events of a debate say."""
    tail, types = _tail(connection, dialect), RowTypes.of("debates", *(str(group.key) for group in groups))
    columns = debates_table.c
    sums = {
        "debates": func.count(),
        "scores": func.sum(columns.final_score),
        "scored": func.count(columns.final_score),
        **{name: func.sum(columns[name]) for name in SUMS},
        "cost": func.sum(columns.cost),
        "known_cost": func.count(columns.cost),
    }

    def summed_up() -> list[Row]:
        matches = _text_matches(connection, dialect, wanted, tail)
        query = select(*groups, *(value.label(name) for name, value in sums.items()))
        query = query.where(*conditions(dialect, wanted, matches)).group_by(*groups)
        if tail.debates:
            query = query.where(columns.debate_id.not_in(bindparam("tail", sorted(tail.debates), expanding=True)))
        found: list[Row] = [dict(types.checked_row(row)) for row in connection.execute(query).mappings()]
        return found + [single_group(row) for row in tail.debates.values() if wanted.matches(row, matches.__contains__)]

    try:
        return summed_up()
    except StoreDamaged:
        rows = connection.execute(select(columns.debate_id, *groups)).mappings()
        damaged = {row["debate_id"]: dict(row) for row in rows if not types.fit(row)}
        tail.debates.update(made_again(connection, dialect, damaged))
        return summed_up()


def _text_matches(
    connection: Connection, dialect: Dialect, wanted: DebateFilter, tail: ListProjection
) -> frozenset[int]:
    terms = query_terms(wanted.search) if wanted.search is not None else ()
    if not terms:
        return frozenset()
    found = search_index.tail_matches(connection, dialect, terms)
    positions = {row["position"] for row in tail.debates.values()}
    if positions:
        found |= frozenset(connection.scalars(search_index.debates_matching(dialect, terms, positions)))
    return found


def runs(connection: Connection, dialect: Dialect) -> list[RunRow]:
    """Rows in the order of the first debate, up to date."""
    tail = _tail(connection, dialect)
    listed = connection.execute(select(runs_table)).mappings()
    found = {row["run_id"]: run_row(connection, dialect, dict(row)) for row in listed} | tail.runs
    leases = run_leases(connection)
    rows = sorted(found.values(), key=lambda row: row["position"])
    return [RunRow(**{**row, **leases.get(row["run_id"], {})}) for row in rows]


def run(connection: Connection, dialect: Dialect, run_id: str) -> RunRow | None:
    """One row, up to date."""
    tail = _tail(connection, dialect)
    row = tail.runs.get(run_id)
    if row is None:
        row = rows_by_id(connection, runs_table, "run_id", [run_id], checked=False).get(run_id)
        row = row and run_row(connection, dialect, row)
    return RunRow(**{**row, **run_leases(connection, run_id).get(run_id, {})}) if row else None


def runs_left(connection: Connection, dialect: Dialect) -> list[str]:
    """Ids of runs with a debate that waits or began and is not over, by the oldest such debate."""

    def is_left(row: Row) -> bool:
        return row["ended_at"] is None and row["quarantined"] is None

    oldest: dict[str, int] = {}
    searched = [str(one[f"{dialect.name}_where"]) for one in (UNFINISHED, WAITING)]
    for condition in searched:
        there = f"FROM debates WHERE {condition} AND quarantined IS NULL"
        # Each run is found by one step in the index, however many debates it has.
        first = f"""
            WITH RECURSIVE one(run_id) AS (
                SELECT min(run_id) {there}
                UNION ALL SELECT (SELECT min(run_id) {there} AND run_id > one.run_id) FROM one WHERE run_id IS NOT NULL
            )
            SELECT run_id, (SELECT min(position) {there} AND run_id = one.run_id) FROM one WHERE run_id IS NOT NULL
        """  # noqa: S608  (the conditions are those of the schema)
        for run_id, position in _LEFT.checked(connection.exec_driver_sql(first).all()):
            oldest[run_id] = min(position, oldest.get(run_id, position))
    tail, columns = _tail(connection, dialect).debates, debates_table.c
    for run_id in {row["run_id"] for row in tail.values()} - {None}:
        left = [row["position"] for row in tail.values() if row["run_id"] == run_id and is_left(row)]
        others = columns.debate_id.not_in(bindparam("tail", sorted(tail), expanding=True))
        for condition in searched if oldest.pop(run_id, None) is not None else ():
            of_run = text(condition), columns.quarantined.is_(None), columns.run_id == run_id, others
            position = connection.scalar(select(func.min(columns.position)).where(*of_run))
            left += [] if position is None else [position]
        if left:
            oldest[run_id] = min(left)
    return sorted(oldest, key=lambda run_id: oldest[run_id])


def cases_of(connection: Connection, dialect: Dialect, wanted: Collection[str]) -> dict[str, CaseRow]:
    """The cases of those debates that exist, up to date."""
    tail = _tail(connection, dialect, of=wanted)
    rows = connection.exec_driver_sql(dialect.cases_of, (dialect.id_list(wanted),))
    found = {}
    for debate_id, *fields, more in _CASE.checked(rows.all()):
        found[debate_id] = CaseRow(*fields)
        if _has_label(more):
            found[debate_id] = found[debate_id]._replace(of_label=of_label(json.loads(more)))
    salts = _salts(connection, tail.debates)
    for debate_id, row in tail.debates.items():
        found[debate_id] = CaseRow.of(row, salts.get((debate_id, row["case_part"])))
    return found


def _has_label(metadata: str) -> bool:
    """Whether the text of metadata may have label data: most have none, and are not decoded."""
    return any(name in metadata for name in LABEL_METADATA)


def ended_positions(connection: Connection, dialect: Dialect, wanted: Collection[str]) -> dict[str, int]:
    """The positions of the opening events of those debates that are over, up to date."""
    tail = _tail(connection, dialect, of=wanted)
    rows = DriverCursor(connection).rows(dialect.ended_positions, (dialect.id_list(wanted),))
    found: dict[str, int] = dict(_ENDED.checked(rows))
    # No event makes a debate that is over run again.
    found |= {debate_id: row["position"] for debate_id, row in tail.debates.items() if row["ended_at"] is not None}
    return found


def further_repeats(connection: Connection, dialect: Dialect, run_id: str, most: int) -> int:
    """How many debates of a run are repeats of their cases beyond `most`, without those in quarantine."""
    tail = _tail(connection, dialect)
    column = debates_table.c.debate_id
    # Ids alone, which the primary key has; the forms leave out the hash of a case's id, which has 16 digits.
    query = select(column).where(
        column > f"{run_id}~", column < f"{run_id}\x7f", or_(*(column.like(form) for form in _REPEATS))
    )
    ids = {*connection.scalars(query), *tail.debates}
    numbered = [one for one in ids if (last := one.rpartition("~")[2]).isdigit() and int(last) > most]
    rows = {**listed_rows(connection, dialect, numbered), **tail.debates}
    return sum(
        row["run_id"] == run_id
        and row["quarantined"] is None
        and repeat_of(row["debate_id"], run_id, row["case_id"]) > most
        for row in rows.values()
    )


def ballots(
    connection: Connection, dialect: Dialect, wanted: DebateFilter, *, ended_only: bool
) -> Iterator[list[DebateBallots]]:
    """The ballots of the selected debates, up to date, in batches, by debate id."""
    tail = _tail(connection, dialect)
    matches = _text_matches(connection, dialect, wanted, tail)
    fresh = [
        row
        for _, row in sorted(tail.debates.items())
        if wanted.matches(row, matches.__contains__) and (has_ended(row) or not ended_only)
    ]
    after, more = "", True
    while more:
        query = ballots_query(dialect, wanted, ended_only=ended_only, after=after, limit=_PAGE, text_matches=matches)
        rows = _BALLOTS.checked(connection.execute(query).all())
        more = len(rows) == _PAGE
        after = rows[-1].debate_id if rows else after
        count = next((n for n, row in enumerate(fresh) if more and row["debate_id"] > after), len(fresh))
        unstored, fresh = fresh[:count], fresh[count:]
        found = []
        for *row, ended_at in rows:
            if row[0] in tail.debates:
                continue
            if ended_at is None:
                unstored += listed_rows(connection, dialect, [row[0]]).values()
            else:
                found.append(_stored_ballots(row))
        for start in range(0, len(unstored), _CHUNK):
            chunk = unstored[start : start + _CHUNK]
            sheets = folded_sheets(connection, dialect, [row["debate_id"] for row in chunk], UNLIMITED)
            found += [DebateBallots.of(row, sheets[row["debate_id"]]) for row in chunk]
        if found:
            yield sorted(found, key=lambda one: one.debate_id)


def _stored_ballots(row: Sequence[Any]) -> DebateBallots:
    try:
        return DebateBallots.stored(row)
    except (AttributeError, ValueError) as error:
        raise damaged_row(debates_table, {"debate_id": row[0]}, f"column metadata contains no JSON: {error}") from None


def has_ended(row: Row) -> bool:
    """Whether the ballots of a debate are stored, by its row."""
    return row["ended_at"] is not None


def _save_ballots(connection: Connection, dialect: Dialect, projection: ListProjection, stored: set[str]) -> None:
    sheets = projection.ballots or {}
    ended = {
        debate_id: {"debate_id": debate_id, "panel": sheet.panel, "votes": sheet.packed()}
        for debate_id, sheet in sheets.items()
        if has_ended(projection.debates[debate_id])
    }
    _save(connection, dialect, ballots_table, ended, stored)
    if gone := sorted(stored - ended.keys()):
        # A later event made the debate unreadable.
        for start in range(0, len(gone), _CHUNK):
            connection.execute(delete(ballots_table).where(ballots_table.c.debate_id.in_(gone[start : start + _CHUNK])))


def _tail(connection: Connection, dialect: Dialect, of: Collection[str] | None = None) -> ListProjection:
    """The rows that events after the checkpoint update, with these updates; `of`: the rows of these debates alone.

    Of a store that is written at this moment these are thousands of events. One debate is seldom among them, and then
    no body is decoded.
    """
    begin = checkpoint_position(connection, LISTS)
    if of is not None:
        streams = {row[0] for row in connection.exec_driver_sql(dialect.streams_after, (begin,))}
        of = {stream_debate(name) for name in streams if isinstance(name, str)}.intersection(of)
        if not of:
            return ListProjection({}, {})
    events = read_unchecked_events(connection, dialect.read_all, (begin, UNLIMITED))
    if of is not None:
        wanted = {name for one in of for name in streams_of(one)}
        events = [event for event in events if event.stream in wanted]
    projection = _load(connection, dialect, events, begin)
    projection.advance(events)
    return projection


def _load(connection: Connection, dialect: Dialect, events: list[StoredEvent], begin: int) -> ListProjection:
    rows = listed_rows(connection, dialect, debate_ids(events), begin)
    opened = {run_id for event in events if (run_id := opened_run(event)) is not None}
    run_ids = {*opened, *run_news(events), *(row["run_id"] for row in rows.values() if row["run_id"] is not None)}
    return ListProjection(rows, rows_by_id(connection, runs_table, "run_id", run_ids))


def _save(connection: Connection, dialect: Dialect, table: Table, rows: dict[str, Row], known: set[str]) -> None:
    insert_rows(connection, dialect, table, [row for name, row in rows.items() if name not in known])
    update_rows(connection, dialect, table, [row for name, row in rows.items() if name in known])


def _save_debates(
    connection: Connection, dialect: Dialect, rows: dict[str, Row], known: set[str], waited: set[str]
) -> None:
    """`waited` are those of `known` that are stored as waiting."""
    insert_rows(connection, dialect, debates_table, [row for name, row in rows.items() if name not in known])
    for going_on in (True, False):
        listed = [
            row
            for name, row in rows.items()
            if name in known and (_goes_on(row) and row["waiting"] == (name in waited)) == going_on
        ]
        update_rows(connection, dialect, debates_table, listed, _UNCHANGED if going_on else _OPENING)


def _goes_on(row: Row) -> bool:
    """Whether the list has this row with nothing in the columns that select rows for an index."""
    return row["ended_at"] is None and row["imported"] is None and row["problem"] is None


def _save_fields(connection: Connection, dialect: Dialect, rows: Iterable[Row]) -> None:
    """The fields of a debate's case change with its label alone."""
    values = [
        {"position": row["position"], "name": name, "value": value}
        for row in rows
        for name, values in indexed_values(row).items()
        if name not in FIELDS_IN_COLUMNS
        for value in values
    ]
    insert_rows(connection, dialect, _fields, values)


def _salts(connection: Connection, rows: dict[str, Row]) -> dict[tuple[str, Digest], bytes]:
    query = select(_parts.c.debate_id, _parts.c.digest, _parts.c.salt).where(
        _parts.c.debate_id.in_(bindparam("debates", expanding=True)),
        _parts.c.digest.in_(bindparam("digests", expanding=True)),
    )
    found: dict[tuple[str, Digest], bytes] = {}
    wanted = sorted(rows)
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        chosen = {"debates": chunk, "digests": [rows[one]["case_part"] for one in chunk]}
        found.update({(row[0], row[1]): row[2] for row in connection.execute(query, chosen)})
    return found
