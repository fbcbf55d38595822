"""Every kind of change to the tables of a store, and what finds it: nothing goes unnoticed that is part of the record.

A SQLite store as an attacker with the file can change it: every column of every table to each of several other values,
rows taken away or doubled, keys and guards dropped, indexes spoilt, and hashes computed anew by a forger who knows how.
For each kind one of `Found` is expected, and a change that is found by less, or by nothing, fails.
"""

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jury_events import GENESIS, StoredEvent, stored_hash
from jury_migrations import check
from jury_replay import Trust, verify
from jury_store import PublicKey, SealKey, metadata, open_store
from reference.data_pages import protection
from support.sealed_store import SealedStore
from support.unguarded import unguarded

pytestmark = pytest.mark.xdist_group("sealed store")

HALVES = [0, pytest.param(1, marks=pytest.mark.full)]
"""Every second row of a table of the test; the others are `full`."""


class Found(StrEnum):
    """The check that finds a change: the first of these."""

    VERIFY = "jury verify"
    DEEP = "jury verify --deep"
    NOTE = "a note kept elsewhere"
    NO_RECORD = "not part of the record"


NO_RECORD = {
    ("streams", "epoch"): "fences writers, and says nothing of what was written",
    ("counters", "value"): "the counter of epochs only fences; it may be ahead, not behind",
    ("seals", "sealed_at"): "the sealer's clock; size and root are signed",
    ("attestations", "kept_at"): "the clock of the process that asked; a cosignature has its own time",
    ("run_leases", "run_id"): "a budget's own account of what was sent; nothing that was judged follows from it",
    ("run_leases", "calls_at_most"): "likewise",
    ("run_leases", "cost_at_most"): "likewise",
    ("run_leases", "a row deleted"): "likewise",
    ("projections", "position"): "behind, what is searched is carried again; ahead, and of the lists, it is found",
    (
        "search_texts",
        "terms",
    ): "a search may find too little or too much; what it shows is read from the texts themselves",
    ("attestations", "a row deleted"): "a proof that is gone harms no record, and another one is as good",
}
"""Columns whose change is not found, each with the reason; docs/reference/store.md lists them too."""


def _found(path: Path, kept: SealedStore, *, keys: bool = True, schema: bool = False) -> Found:
    """The checks that find a change of a store, with the public keys or without."""
    url = f"sqlite:///{path}"
    if schema and check(url):
        return Found.VERIFY
    known: dict[str, Any] = {"keys": [kept.key], "trust": Trust((kept.witness,))} if keys else {}
    opened = open_store(url, write=False)
    try:
        if not verify(opened, **known).ok:
            return Found.VERIFY
        if not verify(opened, **known, deep=True).ok:
            return Found.DEEP
        if not verify(opened, **known, checkpoints=[kept.note]).ok:
            return Found.NOTE
    finally:
        opened.close()
    return Found.NO_RECORD


def _copied(source: Path, folder: Path) -> Path:
    return Path(shutil.copyfile(source, folder / "copy.db"))


# ── columns and rows ──────────────────────────────────────────────────────────────────────────────────────────────────


def _values(column: str, kind: str) -> Iterator[tuple[str, str]]:
    """Other values of a column, as expressions, by what is done."""
    yield "NULL", "NULL"
    if kind == "blob":
        yield "as text", f"CAST(substr({column}, 1, 8) AS TEXT)"
        yield "a bit", f"CAST(x'01' || substr({column}, 2) AS BLOB)"
        yield "shorter", f"CAST(substr({column}, 2) AS BLOB)"
        yield "empty", "x''"
    elif kind == "integer":
        yield "as text", "'many'"
        yield "one more", f"{column} + 1"
        yield "one less", f"{column} - 1"
        yield "a fraction", f"{column} + 0.5"
        yield "bytes", "x'00'"
    elif kind == "real":
        yield "as text", "'many'"
        yield "more", f"{column} + 1"
        yield "bytes", "x'00'"
    else:
        yield "bytes", f"CAST({column} AS BLOB)"
        yield "longer", f"{column} || 'x'"
        yield "another case", f"replace(upper({column}), '/', '/')"
        yield "empty", "''"
        yield "a number", "7"
    yield (
        "of another row",
        f"(SELECT other.{column} FROM {{table}} AS other WHERE other.{column} IS NOT {{table}}.{column})",
    )


def _rows(connection: sqlite3.Connection, table: str) -> list[int]:
    """The first, a middle and the last row."""
    ids = [row[0] for row in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    return sorted({ids[0], ids[len(ids) // 2], ids[-1]}) if ids else []


TABLES = {**{table.name: [column.name for column in table.columns] for table in metadata.sorted_tables}}


LISTS = ("debates", "debate_fields", "runs")
"""Derived from the log: one comparison finds every value, so a quarter of the values is enough."""


@pytest.mark.full
@pytest.mark.parametrize(
    ("table", "share"),
    [
        *((one, 4 if one in LISTS else 2) for one in TABLES),
        *(pytest.param(one, 1, marks=pytest.mark.long) for one in TABLES),
    ],
)
def test_other_values_of_every_column_are_found(store: SealedStore, table: str, share: int, tmp_path: Path) -> None:
    kinds: Counter[str] = Counter()
    less: set[tuple[str, str]] = set()
    for number, column in enumerate(TABLES[table]):
        with closing(sqlite3.connect(store.path)) as connection:
            rows = _rows(connection, table)
            kind = connection.execute(
                f"SELECT typeof({column}) FROM {table} WHERE {column} IS NOT NULL LIMIT 1"
            ).fetchone()
        for turn, (name, value) in enumerate(_values(column, kind[0] if kind else "text")):
            if (turn + number) % share:
                continue
            # The rows take turns, as every changed row costs a verification; those of counters differ in what they are.
            for row in rows if table == "counters" else [rows[turn % len(rows)]]:
                copy = _copied(store.path, tmp_path)
                if not _changed(copy, table, row, column, value.format(table=table)):
                    continue
                kinds[f"{column}: {name}"] += 1
                if _found(copy, store) is not Found.VERIFY:
                    less.add((table, column))

    expected = {(of, column) for of, column in NO_RECORD if of == table and column in TABLES[table]}
    assert less == expected if share == 1 else less <= expected
    assert len(kinds) >= 2


def _changed(path: Path, table: str, row: int, column: str, value: str) -> bool:
    """Whether the table took another value there."""
    with unguarded(path) as connection:
        connection.text_factory = bytes  # not every value that a column takes is UTF-8
        before = connection.execute(f"SELECT * FROM {table}").fetchall()
        try:
            connection.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = {row}")
        except sqlite3.IntegrityError:
            return False
        after = connection.execute(f"SELECT * FROM {table}").fetchall()
    return [tuple(map(repr, one)) for one in before] != [tuple(map(repr, one)) for one in after]


@pytest.mark.parametrize("half", HALVES)
def test_every_row_that_is_gone_is_found(store: SealedStore, tmp_path: Path, half: int) -> None:
    """Of each table the first row, or a middle and the last one."""
    for number, table in enumerate(TABLES):
        with closing(sqlite3.connect(store.path)) as connection:
            rows = _rows(connection, table)
        expected = Found.NO_RECORD if (table, "a row deleted") in NO_RECORD else Found.VERIFY
        for row in rows[:1] if number % 2 == half else rows[1:] if half else []:
            copy = _copied(store.path, tmp_path)
            with unguarded(copy) as connection:
                connection.execute(f"DELETE FROM {table} WHERE rowid = {row}")

            assert _found(copy, store) is expected, (table, row)


@pytest.mark.parametrize("half", HALVES)
def test_every_row_that_stands_there_twice_is_found_without_the_key_of_the_table_being_looked_at(
    store: SealedStore, tmp_path: Path, half: int
) -> None:
    for table in [*TABLES][half::2]:
        copy = _copied(store.path, tmp_path)
        with unguarded(copy) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            columns = ", ".join(f"{row[1]} {row[2]}" for row in connection.execute(f"PRAGMA table_info({table})"))
            assert "PRIMARY KEY" in made
            connection.execute(f"CREATE TABLE loose ({columns})")
            connection.execute(f"INSERT INTO loose SELECT * FROM {table}")
            connection.execute(f"INSERT INTO loose SELECT * FROM {table} ORDER BY rowid LIMIT 1")
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE loose RENAME TO {table}")

        assert check(f"sqlite:///{copy}"), table
        assert _found(copy, store) is Found.VERIFY, table


ADDED: dict[str, tuple[str, Found]] = {
    "events": (
        "INSERT INTO events SELECT 999, stream, 999, 'x', type, schema, recorded_at, body, hash FROM events LIMIT 1",
        Found.VERIFY,
    ),
    "streams": ("INSERT INTO streams VALUES ('debate/more', 0, 1, zeroblob(32))", Found.VERIFY),
    "parts": ("INSERT INTO parts SELECT debate_id, zeroblob(32), salt, content FROM parts LIMIT 1", Found.VERIFY),
    "counters": ("INSERT INTO counters VALUES ('more', 7)", Found.VERIFY),
    "seals": ("INSERT INTO seals SELECT tree_size - 1, root, frontier, note, sealed_at FROM seals LIMIT 1",
              Found.VERIFY),
    "origins": ("INSERT INTO origins SELECT 'r1~one', seal FROM origins", Found.VERIFY),
    "attestations": (
        "INSERT INTO attestations SELECT zeroblob(32), tree_size, kind, content, kept_at FROM attestations LIMIT 1",
        Found.VERIFY,
    ),
    "projections": ("INSERT INTO projections VALUES ('more', 7)", Found.VERIFY),
    "debates": ("INSERT INTO debates ({columns}) SELECT {values} FROM debates LIMIT 1", Found.VERIFY),
    "debate_fields": ("INSERT INTO debate_fields SELECT position, 'tags', 'more' FROM debates LIMIT 1", Found.VERIFY),
    "runs": ("INSERT INTO runs ({columns}) SELECT {values} FROM runs LIMIT 1", Found.VERIFY),
    "ballots": ("INSERT INTO ballots SELECT 'more', panel, votes FROM ballots LIMIT 1", Found.VERIFY),
    "run_leases": ("INSERT INTO run_leases VALUES ('more', 7, NULL)", Found.NO_RECORD),
    "search_texts": ("INSERT INTO search_texts VALUES (999, 1, 'more')", Found.VERIFY),
}  # fmt: skip
"""A row that is added to each table; docs/reference/store.md says why one of `NO_RECORD` is harmless."""


@pytest.mark.parametrize("half", HALVES)
def test_every_row_that_is_added_is_found(store: SealedStore, tmp_path: Path, half: int) -> None:
    assert ADDED.keys() == TABLES.keys()

    others = {"debates": {"debate_id": "'more'", "position": "999"}, "runs": {"run_id": "'more'"}}
    for table, (statement, expected) in [*ADDED.items()][half::2]:
        changed = others.get(table, {})
        columns, values = ", ".join(TABLES[table]), ", ".join(changed.get(one, one) for one in TABLES[table])
        copy = _copied(store.path, tmp_path)
        with unguarded(copy) as connection:
            connection.execute(statement.format(columns=columns, values=values))

        assert _found(copy, store) is expected, table


def test_a_seal_that_is_gone_without_a_statement_of_others_is_no_part_of_the_record(
    store: SealedStore, tmp_path: Path
) -> None:
    """The events are as they were, and the next seal covers them: what is gone is a proof."""
    copy = _copied(store.path, tmp_path)
    with unguarded(copy) as connection:
        connection.execute("DELETE FROM attestations WHERE tree_size = (SELECT min(tree_size) FROM seals)")
        connection.execute("DELETE FROM seals WHERE tree_size = (SELECT min(tree_size) FROM seals)")

    assert _found(copy, store) is Found.NO_RECORD


def test_a_signature_of_an_unknown_key_beside_the_honest_one_changes_nothing(
    store: SealedStore, tmp_path: Path
) -> None:
    """Verifiers ignore signatures of keys that they do not know (C2SP signed-note)."""
    copy = _copied(store.path, tmp_path)
    with unguarded(copy) as connection:
        (note,) = connection.execute("SELECT note FROM seals ORDER BY tree_size").fetchone()
        added = note + "— attacker.example/log AAAAAQIDBAUGBwg=\n".encode()
        connection.execute("UPDATE seals SET note = ? WHERE note = ?", (added, note))

    assert _found(copy, store) is Found.NO_RECORD
    kept = store._replace(key=_other_key())
    assert _found(copy, kept) is Found.VERIFY


def _other_key() -> PublicKey:
    return SealKey.generate("attacker.example/log").public


def test_every_column_is_said_to_be_protected_or_harmless() -> None:
    named: dict[str, list[str]] = {}
    for row in protection():
        named.setdefault(row["table"], []).extend(row["columns"])

    assert {table: sorted(columns) for table, columns in TABLES.items()} == {
        table: sorted(columns) for table, columns in named.items()
    }


# ── the schema ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _schema_changes(path: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        named = connection.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    for kind, name in named:
        if kind in {"trigger", "index"}:
            yield f"{kind} {name} dropped", f"DROP {kind} {name}"
    for table in TABLES:
        yield f"trigger on {table} added", f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN SELECT 1; END"
        yield f"column of {table} added", f"ALTER TABLE {table} ADD COLUMN more TEXT"
        yield f"{table} renamed", f"ALTER TABLE {table} RENAME TO gone"
        column = TABLES[table][-1]
        yield f"index on {table} added", f"CREATE INDEX more ON {table} ({column})"
        yield f"view of {table}", f"ALTER TABLE {table} RENAME TO gone; CREATE VIEW {table} AS SELECT * FROM gone"


@pytest.mark.full
def test_every_change_of_the_schema_is_found(store: SealedStore, tmp_path: Path) -> None:
    names = []
    for name, statements in _schema_changes(store.path):
        copy = _copied(store.path, tmp_path)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.executescript(statements)

        assert check(f"sqlite:///{copy}"), name
        names.append(name)
    assert len(names) > 60


def test_an_index_that_hides_a_row_is_found(store: SealedStore, tmp_path: Path) -> None:
    """Readers by index would see another log than readers of the table."""
    copy = _copied(store.path, tmp_path)
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        # An index made over fewer rows, then declared to be over all of them.
        connection.execute("DROP INDEX debates_run")
        connection.execute("CREATE INDEX debates_run ON debates (run_id, position) WHERE run_id <> 'r1'")
        connection.execute(
            "UPDATE sqlite_master SET sql = 'CREATE INDEX debates_run ON debates (run_id, position)' "
            "WHERE name = 'debates_run'"
        )

    assert check(f"sqlite:///{copy}") == []
    assert _found(copy, store) is Found.VERIFY


# ── forgers who compute everything anew ───────────────────────────────────────────────────────────────────────────────


def _events(connection: sqlite3.Connection) -> list[StoredEvent]:
    return [StoredEvent(*row) for row in connection.execute("SELECT * FROM events ORDER BY position")]


def _written_anew(connection: sqlite3.Connection, events: list[StoredEvent]) -> None:
    """Positions, versions, hashes, heads, counters and lists as they would be, had these events been stored."""
    ends: dict[str, tuple[int, bytes]] = {}
    connection.execute("DELETE FROM events")
    for position, event in enumerate(events, 1):
        version, previous = ends.get(event.stream, (0, GENESIS))
        row = event._replace(position=position, version=version + 1)
        row = row._replace(hash=stored_hash(previous, row))
        ends[event.stream] = (row.version, row.hash)
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    heads = dict(connection.execute("SELECT stream, epoch FROM streams").fetchall())
    connection.execute("DELETE FROM streams")
    for stream, (version, event_hash) in ends.items():
        connection.execute("INSERT INTO streams VALUES (?, ?, ?, ?)", (stream, version, heads[stream], event_hash))
    connection.execute("UPDATE counters SET value = ? WHERE name = 'position'", (len(events),))


def _set(event_id: str, *path: str | int, to: object) -> Callable[[list[StoredEvent]], list[StoredEvent]]:
    """Another value in the bodies of the events of that id of the debate r1~two."""

    def change(events: list[StoredEvent]) -> list[StoredEvent]:
        changed = [_with(event, path, to) if _is(event, event_id) else event for event in events]
        assert changed != events
        return changed

    return change


def _is(event: StoredEvent, event_id: str) -> bool:
    return event.stream.endswith("/r1~two") and event.event_id == event_id


def _with(event: StoredEvent, path: tuple[str | int, ...], to: object) -> StoredEvent:
    body = json.loads(event.body)
    place = body
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    raw = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return event._replace(body=raw.encode())


def _without(stream: str) -> Callable[[list[StoredEvent]], list[StoredEvent]]:
    return lambda events: [event for event in events if not event.stream.endswith(stream)]


def _without_stream(stream: str) -> Callable[[list[StoredEvent]], list[StoredEvent]]:
    return lambda events: [event for event in events if event.stream != stream]


def _first_and_last_exchanged(events: list[StoredEvent]) -> list[StoredEvent]:
    """The last event of one debate and the first of another stream: in each stream the order stays."""
    at = next(
        n
        for n, (one, other) in enumerate(pairwise(events))
        if one.stream != other.stream
        and not {"run", "batches"} & {one.stream[:3], other.stream[:3]}
        and "opened" not in {one.event_id, other.event_id}
    )  # the place of an opening is in the list of its run
    return [*events[:at], events[at + 1], events[at], *events[at + 2 :]]


FORGED: dict[str, tuple[Callable[[list[StoredEvent]], list[StoredEvent]], Found]] = {
    "the verdict of a juror": (
        _set("initial/sim-policy/evaluated", "evaluation", "verdict", to="unsafe_fail"), Found.DEEP,
    ),
    "a consensus": (_set("initial/check", "check", "largest", to=1), Found.DEEP),
    "the judgment's verdict": (_set("final/judgment", "judgment", "score", to=7), Found.DEEP),
    "the final score": (_set("completed", "final_score", to=7), Found.DEEP),
    "a person's verdict": (_set("reviewed/1", "verdict", to="safe_pass"), Found.NOTE),
    "the name of a reviewer": (_set("reviewed/1", "reviewer", to="bob"), Found.NOTE),
    "a blind review": (_set("reviewed/1", "blind", to=False), Found.NOTE),
    "the number of a review": (_set("reviewed/1", "number", to=2), Found.VERIFY),
    "what is withdrawn": (_set("withdrawn/3", "withdraws", to=1), Found.NOTE),
    "all reviews of a debate less, and not their reasons": (_without_stream("review/r1~two"), Found.VERIFY),
    "a label": (_set("opened", "label", to="safe_pass"), Found.VERIFY),
    "the name of the run": (_set("opened", "case_id", to="other"), Found.VERIFY),
    "a whole debate less": (_without("/r1~two"), Found.VERIFY),
    "a tail cut off": (lambda events: events[:-1], Found.NOTE),
    "positions of two streams": (_first_and_last_exchanged, Found.NOTE),
}  # fmt: skip


@pytest.mark.parametrize("half", HALVES)
def test_what_is_computed_anew_is_found_by_replay_or_by_what_was_kept(
    store: SealedStore, tmp_path: Path, half: int
) -> None:
    for name, (change, expected) in [*FORGED.items()][half::2]:
        copy = _copied(store.path, tmp_path)
        with unguarded(copy) as connection:
            _written_anew(connection, change(_events(connection)))
            connection.execute("DELETE FROM seals")
            connection.execute("DELETE FROM attestations")
            named = {event.stream.partition("/")[2] for event in _events(connection)}
            for (debate,) in connection.execute("SELECT DISTINCT debate_id FROM parts").fetchall():
                if debate not in named:
                    connection.execute("DELETE FROM parts WHERE debate_id = ?", (debate,))
        with closing(open_store(f"sqlite:///{copy}", write=True)) as writer:
            writer.rebuild()

        assert _found(copy, store, keys=False, schema=True) is expected, name
    assert _found(copy, store) is Found.VERIFY, "seals by this key are gone"
