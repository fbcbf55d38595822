"""The statements that make the schema with its triggers.

Heads and counters follow from the events: they can only be set to values that match the events. An append therefore
inserts the events first.

SQLite needs a trigger before INSERT, because INSERT OR REPLACE deletes a row without firing its DELETE trigger.
PostgreSQL needs one for TRUNCATE, which fires no row trigger, and ENABLE ALWAYS, because a session with
session_replication_role = replica skips others. Its functions search the schema of the store first and temporary
tables last: otherwise a temporary table `events` would hide the log.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from jury_store.committed_events import LISTS, SEARCH
from jury_store.schema import EPOCH, POSITION, SEARCH_INDEX, metadata

# ruff: noqa: S608  (the statements are built from constants)


class PostgresTrigger(NamedTuple):
    """A trigger on `table` that calls `function` at `when` for each `row_or_statement`."""

    table: str
    when: str
    row_or_statement: str
    function: str


_KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "events": (("position",), ("stream", "version"), ("stream", "event_id")),
    "parts": (("debate_id", "digest"),),
    "seals": (("tree_size",),),
    "origins": (("debate_id",),),
    "attestations": (("digest",),),
}
"""The append-only tables and their unique keys."""


def _refuse(table: str, verb: str, condition: str = "") -> dict[str, str]:
    name = f"{table}_refuse_{verb.lower()}"
    return {
        name: f"CREATE TRIGGER {name} BEFORE {verb} ON {table} {condition}"
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: {verb} refused'); END"
    }


def _refuse_replace(table: str, row: str, keys: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    name = f"{table}_refuse_replace"
    duplicates = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(f'{column} = NEW.{column}' for column in key)})"
        for key in keys
    )
    return {
        name: f"CREATE TRIGGER {name} BEFORE INSERT ON {table} WHEN {duplicates} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: this {row} is stored already'); END"
    }


def _refuse_unless(name: str, event: str, condition: str, message: str) -> dict[str, str]:
    table = name.partition("_")[0]
    return {
        name: f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN ({condition}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, '{table}: {message}'); END"
    }


_ERASURE_IS_RECORDED = (
    "EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased' "
    "OR stream = 'batches/' || OLD.debate_id AND type = 'batch_texts_erased')"
)

# Without a row the comparison is NULL, which is not true, so the change is refused.
_HEAD_IS_LAST_EVENT = (
    "(NEW.version, NEW.hash) = "
    "(SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1)"
)
_HEAD_ADVANCES = "NEW.stream = OLD.stream AND NEW.version >= OLD.version AND NEW.epoch >= OLD.epoch"
_HEAD_RULE = "the head of a stream is its last event, and neither its version nor its epoch goes back"

# The n-th event after the old position is at the new one, so n positions were assigned without a gap. An index lookup,
# because a database without statistics would count by scanning the whole table.
_COUNTER_ADVANCES = (
    "CASE WHEN NEW.name <> OLD.name THEN FALSE WHEN OLD.name = 'epoch' THEN NEW.value = OLD.value + 1 "
    "WHEN NEW.value > OLD.value THEN NEW.value = (SELECT max(position) FROM events) AND NEW.value = "
    "(SELECT position FROM events WHERE position > OLD.value ORDER BY position "
    "LIMIT 1 OFFSET NEW.value - OLD.value - 1) END"
)
_COUNTER_RULE = "the position is that of the last event, without a gap, and the epoch grows by one"

SQLITE_TRIGGERS: dict[str, str] = {
    name: statement
    for table, keys in _KEYS.items()
    for trigger in (
        _refuse(table, "UPDATE"),
        _refuse(table, "DELETE", f"WHEN NOT {_ERASURE_IS_RECORDED} " if table == "parts" else ""),
        _refuse_replace(table, table.removesuffix("s"), keys),
    )
    for name, statement in trigger.items()
} | {
    **_refuse("streams", "DELETE"),
    **_refuse_replace("streams", "head", (("stream",),)),
    **_refuse_unless("streams_refuse_stray", "INSERT", _HEAD_IS_LAST_EVENT, _HEAD_RULE),
    **_refuse_unless("streams_refuse_update", "UPDATE", f"{_HEAD_ADVANCES} AND {_HEAD_IS_LAST_EVENT}", _HEAD_RULE),
    **_refuse("counters", "INSERT"),
    **_refuse("counters", "DELETE"),
    **_refuse_unless("counters_refuse_update", "UPDATE", _COUNTER_ADVANCES, _COUNTER_RULE),
}

POSTGRES_FUNCTIONS: dict[str, str] = {
    "jury_refuse_change": (
        "BEGIN RAISE EXCEPTION '% are append-only: % refused', TG_TABLE_NAME, TG_OP "
        "USING ERRCODE = 'insufficient_privilege'; END"
    ),
    "jury_refuse_unrecorded_erasure": (
        f"BEGIN IF {_ERASURE_IS_RECORDED} THEN RETURN OLD; END IF; "
        "RAISE EXCEPTION 'parts are append-only: DELETE refused, no erasure of % is recorded', OLD.debate_id "
        "USING ERRCODE = 'insufficient_privilege'; END"
    ),
    "jury_refuse_other_head": (
        f"BEGIN IF (TG_OP = 'INSERT' OR {_HEAD_ADVANCES}) AND {_HEAD_IS_LAST_EVENT} THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'streams: % refused, {_HEAD_RULE}', TG_OP USING ERRCODE = 'insufficient_privilege'; END"
    ),
    "jury_refuse_other_count": (
        f"BEGIN IF ({_COUNTER_ADVANCES}) THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'counters: % refused, {_COUNTER_RULE}', TG_OP USING ERRCODE = 'insufficient_privilege'; END"
    ),
}

POSTGRES_TRIGGERS: dict[str, PostgresTrigger] = {
    **{
        f"{table}_refuse_change": PostgresTrigger(table, "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change")
        for table in _KEYS
        if table != "parts"
    },
    **{
        f"{table}_refuse_truncate": PostgresTrigger(table, "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change")
        for table in (*_KEYS, "streams", "counters")
    },
    "parts_refuse_update": PostgresTrigger("parts", "BEFORE UPDATE", "ROW", "jury_refuse_change"),
    "parts_refuse_delete": PostgresTrigger("parts", "BEFORE DELETE", "ROW", "jury_refuse_unrecorded_erasure"),
    "streams_refuse_delete": PostgresTrigger("streams", "BEFORE DELETE", "ROW", "jury_refuse_change"),
    "streams_refuse_other": PostgresTrigger("streams", "BEFORE INSERT OR UPDATE", "ROW", "jury_refuse_other_head"),
    "counters_refuse_change": PostgresTrigger("counters", "BEFORE INSERT OR DELETE", "ROW", "jury_refuse_change"),
    "counters_refuse_other": PostgresTrigger("counters", "BEFORE UPDATE", "ROW", "jury_refuse_other_count"),
}


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
