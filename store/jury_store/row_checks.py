"""Rows that the schema, as declared, does not allow: values of a wrong kind, keys that stand there twice, bad indexes.

SQLite keeps any value in any column, and who may write to the file can take a key away. PostgreSQL holds columns to
their types. What a table's declaration lacks is for `jury_migrations.comparison`; here are the rows.
"""

# ruff: noqa: S608  (the statements are put together from the declared tables)

from collections.abc import Iterator
from hashlib import sha256

from sqlalchemy import BigInteger, Boolean, Column, Connection, Float, Integer, LargeBinary, Table
from sqlalchemy.exc import DBAPIError

from jury_store.schema import metadata

SHOWN = 20
"""Faults that are named of each table; a table in which everything is wrong would fill a disk."""

_MANY_ROWS = frozenset({"events", "parts", "debate_fields", "search_texts"})
"""Tables whose doubled keys are found where their debates are read: to sort them all takes as long as to verify."""


_LOOKED_AT = {"events": ("stream",), "parts": ("debate_id",), "streams": ("stream", "epoch")}
"""Of these tables only columns without which a row belongs to no debate, or which no debate's check reads."""


def row_faults(connection: Connection) -> Iterator[str]:
    """What is wrong with the rows of the tables, with the table and the key of the row."""
    there = set(_tables(connection))
    sqlite = connection.dialect.name == "sqlite"
    for table in metadata.sorted_tables:
        if table.name not in there:
            continue
        columns = _columns(connection, table) if sqlite else {column.name for column in table.columns}
        if sqlite:
            yield from _wrong_kinds(connection, table, columns)
        if table.name not in _MANY_ROWS and columns.issuperset(_key(table)):
            yield from _twins(connection, table)
    if "attestations" in there:
        yield from _misnamed_attestations(connection)
    if sqlite:
        yield from _damaged_pages(connection)


def _tables(connection: Connection) -> list[str]:
    return connection.dialect.get_table_names(connection)


def _columns(connection: Connection, table: Table) -> set[str]:
    return {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table.name})")}


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]


def _wrong_kinds(connection: Connection, table: Table, there: set[str]) -> Iterator[str]:
    looked_at = there.intersection(_LOOKED_AT.get(table.name, there))
    kinds = {column.name: _kinds(column) for column in table.columns if column.name in looked_at}
    if not kinds:
        return  # what the table lacks is for the comparison of the schema
    wrong = " OR ".join(f"typeof({name}) NOT IN ({_listed(allowed)})" for name, allowed in kinds.items())
    booleans = [column.name for column in table.columns if isinstance(column.type, Boolean) and column.name in kinds]
    wrong += "".join(f" OR {name} NOT IN (0, 1)" for name in booleans)
    shown = ", ".join(f"quote({name})" for name in _key(table) if name in there) or "rowid"
    found = ", ".join(f"typeof({name})" for name in kinds)
    rows = connection.exec_driver_sql(f"SELECT {shown}, {found} FROM {table.name} WHERE {wrong} LIMIT {SHOWN}")
    for row in rows:
        values = tuple(row)
        key, types = values[: -len(kinds)], values[-len(kinds) :]
        place = ", ".join(str(one)[:80] for one in key)
        faults = [
            f"column {name} holds {kind}, not {' or '.join(allowed)}"
            for (name, allowed), kind in zip(kinds.items(), types, strict=True)
            if kind not in allowed
        ]
        what = ", ".join(faults) or f"of {' and '.join(booleans)} one holds neither 0 nor 1"
        yield f"table {table.name}, row {place}: {what}"


def _kinds(column: Column[object]) -> tuple[str, ...]:
    """What SQLite calls the values that the column may hold."""
    kind = column.type
    allowed: tuple[str, ...] = ("text",)
    if isinstance(kind, LargeBinary):
        allowed = ("blob",)
    elif isinstance(kind, Integer | BigInteger | Boolean):
        allowed = ("integer",)
    elif isinstance(kind, Float):
        allowed = ("real",)
    return (*allowed, "null") if column.nullable else allowed


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _twins(connection: Connection, table: Table) -> Iterator[str]:
    key = ", ".join(_key(table))
    rows = connection.exec_driver_sql(
        f"SELECT {key}, count(*) FROM {table.name} GROUP BY {key} HAVING count(*) > 1 LIMIT {SHOWN}"
    )
    for row in rows:
        *names, count = row
        place = ", ".join(repr(one)[:80] for one in names)
        yield f"table {table.name} holds {count} rows for {place}, where there may be one"


def _misnamed_attestations(connection: Connection) -> Iterator[str]:
    for digest, content in connection.exec_driver_sql("SELECT digest, content FROM attestations"):
        if not isinstance(content, bytes) or sha256(content).digest() != digest:
            name = digest.hex() if isinstance(digest, bytes) else repr(digest)
            yield f"table attestations, row {name[:80]}: this is not the digest of its content"


def _damaged_pages(connection: Connection) -> Iterator[str]:
    """Indexes that do not agree with their tables, and pages that are none: readers would see other rows."""
    try:
        for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})"):
            if line != "ok" and not _is_told_above(line):
                yield f"the database file is damaged: {' '.join(str(line).split())}"
    except DBAPIError as error:
        yield f"the database file is damaged: {error.orig}"


def _is_told_above(line: str) -> bool:
    """Values of a wrong kind in columns that may not be null, which have their row named already."""
    return line.startswith("NULL value in ")
