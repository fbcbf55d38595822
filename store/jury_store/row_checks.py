"""Rows that the declared schema does not allow: values of a wrong type, duplicate keys, corrupt indexes.

SQLite stores any value in any column, and a process that can write the file can drop a key. PostgreSQL enforces
column types. Differences in the declarations of tables are found by `jury_migrations.comparison`.
"""

# ruff: noqa: S608  (the statements are put together from the declared tables)

from collections.abc import Iterator
from hashlib import sha256

from sqlalchemy import Boolean, Connection, Table
from sqlalchemy.exc import DBAPIError

from jury_store.projection_checkpoints import NAMES
from jury_store.row_types import storage_classes
from jury_store.schema import EPOCH, POSITION, metadata

SHOWN = 20
"""The most faults reported of each table."""

_MANY_ROWS = frozenset({"events", "parts", "debate_fields", "search_texts"})
"""Tables whose duplicate keys are found when their debates are read: sorting them takes as long as verifying."""


_CHECKED_COLUMNS = {"events": ("stream",), "parts": ("debate_id",), "streams": ("stream", "epoch")}
"""Of these tables only columns that the check of a debate does not cover."""


_NAMED = {"counters": (EPOCH, POSITION), "projections": tuple(NAMES)}
"""Tables with one row for each of these names."""


def row_faults(connection: Connection) -> Iterator[str]:
    """Faults of rows, with the table and the key of the row."""
    existing = set(connection.dialect.get_table_names(connection))
    sqlite = connection.dialect.name == "sqlite"
    for table in metadata.sorted_tables:
        if table.name not in existing:
            continue
        columns = _columns(connection, table) if sqlite else {column.name for column in table.columns}
        if sqlite:
            yield from _wrong_types(connection, table, columns)
        if table.name not in _MANY_ROWS and columns.issuperset(_key(table)):
            yield from _duplicate_keys(connection, table)
    for table_name, names in _NAMED.items():
        if table_name in existing:
            yield from _unknown_names(connection, table_name, names)
    if "attestations" in existing:
        yield from _wrong_attestation_digests(connection)
    if sqlite:
        yield from _damaged_pages(connection)


def _columns(connection: Connection, table: Table) -> set[str]:
    return {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table.name})")}


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]


def _wrong_types(connection: Connection, table: Table, existing: set[str]) -> Iterator[str]:
    checked = existing.intersection(_CHECKED_COLUMNS.get(table.name, existing))
    types = {column.name: storage_classes(column) for column in table.columns if column.name in checked}
    if not types:
        return  # missing columns are reported by the comparison of the schema
    wrong = " OR ".join(f"typeof({name}) NOT IN ({_quoted(allowed)})" for name, allowed in types.items())
    booleans = [column.name for column in table.columns if isinstance(column.type, Boolean) and column.name in types]
    wrong += "".join(f" OR {name} NOT IN (0, 1)" for name in booleans)
    shown = ", ".join(f"quote({name})" for name in _key(table) if name in existing) or "rowid"
    found = ", ".join(f"typeof({name})" for name in types)
    rows = connection.exec_driver_sql(f"SELECT {shown}, {found} FROM {table.name} WHERE {wrong} LIMIT {SHOWN}")
    for row in rows:
        values = tuple(row)
        key, stored = values[: -len(types)], values[-len(types) :]
        place = ", ".join(str(one)[:80] for one in key)
        faults = [
            f"column {name} contains {kind}, not {' or '.join(allowed)}"
            for (name, allowed), kind in zip(types.items(), stored, strict=True)
            if kind not in allowed
        ]
        what = ", ".join(faults) or f"one of {', '.join(booleans)} is neither 0 nor 1"
        yield f"table {table.name}, row {place}: {what}"


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _duplicate_keys(connection: Connection, table: Table) -> Iterator[str]:
    key = ", ".join(_key(table))
    rows = connection.exec_driver_sql(
        f"SELECT {key}, count(*) FROM {table.name} GROUP BY {key} HAVING count(*) > 1 LIMIT {SHOWN}"
    )
    for row in rows:
        *names, count = row
        place = ", ".join(repr(one)[:80] for one in names)
        yield f"table {table.name} contains {count} rows for {place}, where one is allowed"


def _unknown_names(connection: Connection, table: str, names: tuple[str, ...]) -> Iterator[str]:
    rows = connection.exec_driver_sql(f"SELECT name FROM {table} WHERE name NOT IN ({_quoted(names)}) LIMIT {SHOWN}")
    for (name,) in rows:
        yield f"table {table}, row {str(name)[:80]}: there is no such {table.removesuffix('s')}"


def _wrong_attestation_digests(connection: Connection) -> Iterator[str]:
    for digest, content in connection.exec_driver_sql("SELECT digest, content FROM attestations"):
        if not isinstance(content, bytes) or sha256(content).digest() != digest:
            name = digest.hex() if isinstance(digest, bytes) else repr(digest)
            yield f"table attestations, row {name[:80]}: the key is not the digest of the content"


def _damaged_pages(connection: Connection) -> Iterator[str]:
    """Indexes that do not match their tables, and corrupt pages: readers would see other rows."""
    try:
        for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})"):
            if line != "ok" and not _is_reported(line):
                yield f"the database file is damaged: {' '.join(str(line).split())}"
    except DBAPIError as error:
        yield f"the database file is damaged: {error.orig}"


def _is_reported(line: str) -> bool:
    """Null values in non-null columns are reported by row above."""
    return line.startswith("NULL value in ")
