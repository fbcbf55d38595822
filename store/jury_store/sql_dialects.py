"""SQL statements for each database, and the other differences between the two."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError, StatementError

# ruff: noqa: S608  (the statements are put together from constants)


_EVENT = "position, stream, version, event_id, type, schema, recorded_at, body, hash"
_SEAL = "tree_size, root, frontier, note, sealed_at"
_ATTESTATION = "tree_size, kind, content, kept_at"


class Dialect:
    """Statements with positional parameters.

    `id_list` packs ids into one parameter. `search` selects the debates with a text that contains all terms of the
    parameter made by `search_query`; `index_terms`, `unindex_terms` and `clear_term_index` maintain its index where the
    database doesn't itself.
    """

    def __init__(
        self,
        *,
        name: str,
        placeholder: str,
        in_list: str,
        id_list: Callable[[Collection[str]], Any],
        lock: str,
        on_conflict: str,
        search: str,
        search_query: Callable[[Sequence[str]], str],
        automatic_index: bool,
    ) -> None:
        self._placeholder = placeholder
        sql = self._with_placeholders
        self.name = name
        self.one_writer = name == "sqlite"
        self.id_list = id_list
        # Locked in one order everywhere, so that two writers don't deadlock.
        self.lock_heads = sql(
            f"SELECT stream, version, epoch, hash FROM streams WHERE stream {in_list} ORDER BY stream{lock}"
        )
        self.heads_in = sql(f"SELECT stream, version, epoch, hash FROM streams WHERE stream {in_list}")
        self.insert_head = sql("INSERT INTO streams (version, epoch, hash, stream) VALUES (?, ?, ?, ?)" + on_conflict)
        self.update_head = sql("UPDATE streams SET version = ?, epoch = ?, hash = ? WHERE stream = ?")
        self.insert_part = sql("INSERT INTO parts (debate_id, digest, salt, content) VALUES (?, ?, ?, ?)" + on_conflict)
        self.next_epoch = "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value"
        self.lock_position = f"SELECT value FROM counters WHERE name = 'position'{lock}"
        self.set_position = sql("UPDATE counters SET value = ? WHERE name = 'position'")
        self.insert_event = sql(f"INSERT INTO events ({_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)" + on_conflict)
        self.events_by_id = sql(f"SELECT {_EVENT} FROM events WHERE stream = ? AND event_id {in_list}")
        self.read_stream = sql(f"SELECT {_EVENT} FROM events WHERE stream = ? AND version > ? ORDER BY version")
        self.read_streams = sql(f"SELECT {_EVENT} FROM events WHERE stream {in_list} ORDER BY stream, version")
        self.first_events = sql(f"SELECT {_EVENT} FROM events WHERE stream {in_list} AND version = 1")
        self.read_all = sql(f"SELECT {_EVENT} FROM events WHERE position > ? ORDER BY position LIMIT ?")
        self.last_position = "SELECT value FROM counters WHERE name = 'position'"
        self.part_digests = sql(f"SELECT debate_id, digest FROM parts WHERE debate_id {in_list}")
        self.erasures = sql(
            "SELECT body FROM events WHERE stream = ? AND type IN ('texts_erased', 'batch_texts_erased')"
        )
        self.delete_part = sql("DELETE FROM parts WHERE debate_id = ? AND digest = ?")
        self.parts_of = sql(f"SELECT debate_id, digest, salt, content FROM parts WHERE debate_id {in_list}")
        self.cases_of = sql(
            "SELECT d.debate_id, d.case_id, d.status, d.case_part, p.salt, d.imported, d.quarantined, "
            "d.position, d.label, d.aside, d.metadata FROM debates d LEFT JOIN parts p ON p.debate_id = d.debate_id "
            "AND p.digest = d.case_part "
            f"WHERE d.debate_id {in_list}"
        )
        self.ended_positions = sql(
            f"SELECT debate_id, position FROM debates WHERE debate_id {in_list} AND ended_at IS NOT NULL"
        )
        # Without DISTINCT, for which SQLite walks the whole index of streams.
        self.streams_after = sql("SELECT stream FROM events WHERE position > ?")
        self.hashes = sql("SELECT position, hash FROM events WHERE position > ? ORDER BY position LIMIT ?")
        self.seals = f"SELECT {_SEAL} FROM seals ORDER BY tree_size"
        self.latest_seal = f"SELECT {_SEAL} FROM seals ORDER BY tree_size DESC LIMIT 1"
        # With WHERE NOT EXISTS, because SQLite's triggers make a second one an error.
        self.insert_seal = sql(
            f"INSERT INTO seals ({_SEAL}) SELECT ?, ?, ?, ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM seals WHERE tree_size = ?){on_conflict}"
        )
        self.attestations = f"SELECT {_ATTESTATION} FROM attestations ORDER BY tree_size, kind, digest"
        self.insert_attestation = sql(
            f"INSERT INTO attestations ({_ATTESTATION}, digest) SELECT ?, ?, ?, ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM attestations WHERE digest = ?){on_conflict}"
        )
        self.origins = sql(f"SELECT debate_id, seal FROM origins WHERE debate_id {in_list}")
        self.insert_origin = sql(
            "INSERT INTO origins (debate_id, seal) SELECT ?, ? "
            f"WHERE NOT EXISTS (SELECT 1 FROM origins WHERE debate_id = ?){on_conflict}"
        )
        self.upsert_run_lease = sql(
            "INSERT INTO run_leases (run_id, calls_at_most, cost_at_most) VALUES (?, ?, ?) ON CONFLICT (run_id) "
            "DO UPDATE SET calls_at_most = excluded.calls_at_most, cost_at_most = excluded.cost_at_most"
        )
        self.lock_checkpoint = sql(f"SELECT position FROM projections WHERE name = ?{lock}")
        self.set_checkpoint = sql("UPDATE projections SET position = ? WHERE name = ?")
        self.openings = sql(
            f"SELECT stream, position FROM events WHERE stream {in_list} AND version = 1 AND type = 'debate_opened'"
        )
        self.indexed_texts = sql("SELECT position FROM search_texts WHERE position BETWEEN ? AND ?")
        self.search = f"SELECT debate FROM search_texts WHERE {search}"
        self.search_query = search_query
        self.insert_search_text = sql("INSERT INTO search_texts (position, debate, terms) VALUES (?, ?, ?)")
        self.delete_search_text = sql("DELETE FROM search_texts WHERE position = ?")
        self.index_terms = None if automatic_index else "INSERT INTO search_index (rowid, terms) VALUES (?, ?)"
        self.unindex_terms = (
            None
            if automatic_index
            else "INSERT INTO search_index (search_index, rowid, terms) "
            "SELECT 'delete', position, terms FROM search_texts WHERE position = ?"
        )
        self.clear_term_index = (
            None if automatic_index else "INSERT INTO search_index (search_index) VALUES ('delete-all')"
        )
        # Leases are not in the log: of such a run nothing is known of calls that were sent and not recorded.
        self.clear_wrong_leases = (
            "DELETE FROM run_leases WHERE typeof(run_id) <> 'text' "
            "OR typeof(calls_at_most) NOT IN ('integer', 'null') OR typeof(cost_at_most) NOT IN ('real', 'null')"
            if self.one_writer
            else None
        )
        # Conflicts between writers: serialization failure, deadlock.
        self.retry_states = frozenset({"40001", "40P01"})

    def parts_by_digest(self, pairs: int) -> str:
        """The statement for so many pairs of debate and digest.

        SQLite scans the whole table for `IN` of pairs, and not for a join.
        """
        return self._with_placeholders(
            "SELECT p.debate_id, p.digest, p.salt, p.content FROM (VALUES "
            + ", ".join(["(?, ?)"] * pairs)
            + ") AS named JOIN parts p ON p.debate_id = named.column1 AND p.digest = named.column2"
        )

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """The statement that inserts a row of these columns."""
        return self._with_placeholders(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})"
        )

    def update(self, table: str, columns: Sequence[str], key: str) -> str:
        """The statement that sets these columns where `key` is the last parameter."""
        return self._with_placeholders(
            f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in columns)} WHERE {key} = ?"
        )

    @property
    def streams_between(self) -> str:
        """The names of the streams between two names."""
        return self._with_placeholders("SELECT stream FROM streams WHERE stream > ? AND stream < ? ORDER BY stream")

    def _with_placeholders(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)


# On PostgreSQL an existing row is skipped and detected by the row count: an error would abort the driver's pipeline,
# which logs a warning. On SQLite the triggers make it an error in any case.
SQLITE = Dialect(
    name="sqlite",
    placeholder="?",
    in_list="IN (SELECT value FROM json_each(?))",
    id_list=lambda ids: json.dumps(list(ids), ensure_ascii=False),
    lock="",
    on_conflict="",
    search="position IN (SELECT rowid FROM search_index WHERE search_index MATCH :query)",
    # Terms contain only letters, digits and underscores, so they need no escaping in quotes.
    search_query=lambda terms: " ".join(f'"{term}"*' for term in terms),
    automatic_index=False,
)
POSTGRESQL = Dialect(
    name="postgresql",
    placeholder="%s",
    in_list="= ANY(%s)",
    id_list=list,
    lock=" FOR UPDATE",
    on_conflict=" ON CONFLICT DO NOTHING",
    search="array_to_tsvector(string_to_array(terms, ' ')) @@ CAST(:query AS tsquery)",
    search_query=lambda terms: " & ".join(f"'{term}':*" for term in terms),
    automatic_index=True,
)

DIALECTS = {dialect.name: dialect for dialect in (SQLITE, POSTGRESQL)}


_SQLITE_FULL = "SQLITE_FULL"
_SQLITE_IO_ERROR = "SQLITE_IOERR"
"""Begins SQLite's name for most failures of a full disk with the files beside the database."""

_SQLITE_CORRUPT = "SQLITE_CORRUPT"
"""Begins SQLite's names for a damaged file."""

_NO_TABLE = ("no such table: ", "no such column: ")
"""Of SQLite's message, which has no code of its own."""

_POSTGRES_DISK_FULL = "53100"
"""SQLSTATE (PostgreSQL, appendix A)."""

_POSTGRES_DAMAGED = frozenset({"42P01", "42703", "XX001", "XX002"})
"""Undefined table, undefined column, data corrupted, index corrupted."""


def first_line(error: Exception) -> str:
    """The first line of the driver's message."""
    origin = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    return (str(origin).strip().splitlines() or [type(origin).__name__])[0]


def describe_disk_error(error: DBAPIError, name: str) -> str | None:
    """The disk error and, after a semicolon, the remedy; None for any other error.

    Args:
        error: as the driver raised it.
        name: the store's URL without secrets.
    """
    if isinstance(error.orig, sqlite3.Error):
        kind = getattr(error.orig, "sqlite_errorname", "")
        path = Path(name.removeprefix("sqlite:///")).expanduser().resolve()
        if kind == _SQLITE_FULL:
            return f"{path}: the disk is full; make room on the disk of {path.parent}"
        if kind.startswith(_SQLITE_IO_ERROR):
            return (
                f"{path}: the disk is full or cannot be written ({error.orig}); make room on the disk of "
                f"{path.parent}, or make the folder writable"
            )
    if getattr(error.orig, "sqlstate", None) == _POSTGRES_DISK_FULL:
        return f"{name}: the disk of the PostgreSQL server is full; make room there"
    return None


def describe_damage(error: DBAPIError, name: str) -> str | None:
    """What is damaged; None for any other error: statements name only what every store has.

    Arguments as of `describe_disk_error`.
    """
    what = first_line(error)
    if isinstance(error.orig, sqlite3.Error):
        damaged = getattr(error.orig, "sqlite_errorname", "").startswith(_SQLITE_CORRUPT) or what.startswith(_NO_TABLE)
    else:
        damaged = getattr(error.orig, "sqlstate", None) in _POSTGRES_DAMAGED
    if not damaged:
        return None
    return f"{name}: {what}: the database is damaged, or was altered"
