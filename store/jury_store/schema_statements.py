"""The statements that make an empty store of the declared schema: tables, indexes, first rows, triggers.

A store in memory runs them; the first revision of a stored one has them as files, which never change once released.
"""

# ruff: noqa: S608  (the statements are built from constants)

from collections.abc import Iterator
from typing import Literal

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from jury_store.projection_checkpoints import LISTS, SEARCH
from jury_store.schema import EPOCH, POSITION, SEARCH_INDEX, metadata
from jury_store.triggers import POSTGRES_FUNCTIONS, POSTGRES_TRIGGERS, SQLITE_TRIGGERS

Database = Literal["sqlite", "postgresql"]

_DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}  # type: ignore[no-untyped-call]


def schema_statements(database: Database) -> Iterator[str]:
    """The statements in their order, to be run one by one in one transaction."""
    dialect = _DIALECTS[database]
    for table in metadata.sorted_tables:
        yield _compiled(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            yield _compiled(str(CreateIndex(index).compile(dialect=dialect)))
    yield SEARCH_INDEX[database]
    yield f"INSERT INTO counters (name, value) VALUES ('{POSITION}', 0), ('{EPOCH}', 0)"
    yield f"INSERT INTO projections (name, position) VALUES ('{LISTS}', 0), ('{SEARCH}', 0)"
    # Last: no more counters can be added then.
    yield from SQLITE_TRIGGERS.values() if database == "sqlite" else _postgres_guards()


def _compiled(statement: str) -> str:
    lines = (line.rstrip() for line in statement.replace("\t", "    ").split("\n"))
    return "\n".join(line for line in lines if line)


def _postgres_guards() -> Iterator[str]:
    for name, body in POSTGRES_FUNCTIONS.items():
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        # Temporary tables come first unless they are named last: one named events would hide the log.
        yield (
            f"DO $$ BEGIN EXECUTE format('ALTER FUNCTION {name}() SET search_path = %I, pg_temp', current_schema()); "
            "END $$"
        )
    for name, one in POSTGRES_TRIGGERS.items():
        yield (
            f"CREATE TRIGGER {name} {one.when} ON {one.table} FOR EACH {one.row_or_statement} "
            f"EXECUTE FUNCTION {one.function}()"
        )
        # A session with session_replication_role = replica skips others.
        yield f"ALTER TABLE {one.table} ENABLE ALWAYS TRIGGER {name}"
    # ANALYZE would copy texts into pg_statistic, where no erasure finds them.
    yield "ALTER TABLE parts ALTER COLUMN content SET STATISTICS 0"
    yield "ALTER TABLE search_texts ALTER COLUMN terms SET STATISTICS 0"
    yield "ALTER INDEX search_index ALTER COLUMN 1 SET STATISTICS 0"
