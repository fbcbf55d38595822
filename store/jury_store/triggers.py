"""The triggers that keep the log append-only, by name, as a store must have them.

Heads and counters follow from the events: they may only be brought to what the events say. An append therefore stores
the events first.

SQLite needs a guard before INSERT, because INSERT OR REPLACE deletes a row without firing its DELETE trigger.
PostgreSQL needs one for TRUNCATE, which fires no row trigger, and ENABLE ALWAYS, because a session may otherwise call
itself a replica and skip them. Its functions look for tables in the schema of the store first and among temporary
tables last: a temporary table `events` would otherwise stand in for the log.
"""

from typing import NamedTuple


class PostgresTrigger(NamedTuple):
    """A trigger on `table`, calling `function`, fired at `when` for each `row_or_statement`."""

    table: str
    when: str
    row_or_statement: str
    function: str


def _refuse(table: str, verb: str, condition: str = "") -> str:
    return (
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} {condition}"
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: {verb} refused'); END"
    )


_ERASURE_IS_RECORDED = (
    "EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased')"
)

# A comparison with no row is NULL, which is not true: such a row is refused.
_HEAD_IS_LAST_EVENT = (
    "(NEW.version, NEW.hash) = "
    "(SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1)"
)
_HEAD_GOES_ON = "NEW.stream = OLD.stream AND NEW.version >= OLD.version AND NEW.epoch >= OLD.epoch"
_HEAD_SAYS = "the head of a stream is its last event, and neither its version nor its epoch goes back"

# The n-th event beyond the old position is at the new one, so n positions were taken without a gap. By one row of the
# index, because a database without statistics would count by reading the whole table.
_COUNTER_GOES_ON = (
    "CASE WHEN NEW.name <> OLD.name THEN FALSE WHEN OLD.name = 'epoch' THEN NEW.value = OLD.value + 1 "
    "WHEN NEW.value > OLD.value THEN NEW.value = (SELECT max(position) FROM events) AND NEW.value = "
    "(SELECT position FROM events WHERE position > OLD.value ORDER BY position "
    "LIMIT 1 OFFSET NEW.value - OLD.value - 1) END"
)
_COUNTER_SAYS = "the position is that of the last event, without a gap, and the epoch grows by one"

SQLITE_TRIGGERS: dict[str, str] = {
    "events_refuse_update": _refuse("events", "UPDATE"),
    "events_refuse_delete": _refuse("events", "DELETE"),
    "events_refuse_replace": (
        "CREATE TRIGGER events_refuse_replace BEFORE INSERT ON events "
        "WHEN EXISTS (SELECT 1 FROM events WHERE position = NEW.position) "
        "OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version) "
        "OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND event_id = NEW.event_id) "
        "BEGIN SELECT RAISE(ABORT, 'events are append-only: this event is stored already'); END"
    ),
    "parts_refuse_update": _refuse("parts", "UPDATE"),
    "parts_refuse_delete": _refuse("parts", "DELETE", f"WHEN NOT {_ERASURE_IS_RECORDED} "),
    "parts_refuse_replace": (
        "CREATE TRIGGER parts_refuse_replace BEFORE INSERT ON parts "
        "WHEN EXISTS (SELECT 1 FROM parts WHERE debate_id = NEW.debate_id AND digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'parts are append-only: this part is stored already'); END"
    ),
    "seals_refuse_update": _refuse("seals", "UPDATE"),
    "seals_refuse_delete": _refuse("seals", "DELETE"),
    "seals_refuse_replace": (
        "CREATE TRIGGER seals_refuse_replace BEFORE INSERT ON seals "
        "WHEN EXISTS (SELECT 1 FROM seals WHERE tree_size = NEW.tree_size) "
        "BEGIN SELECT RAISE(ABORT, 'seals are append-only: this seal is stored already'); END"
    ),
    "origins_refuse_update": _refuse("origins", "UPDATE"),
    "origins_refuse_delete": _refuse("origins", "DELETE"),
    "origins_refuse_replace": (
        "CREATE TRIGGER origins_refuse_replace BEFORE INSERT ON origins "
        "WHEN EXISTS (SELECT 1 FROM origins WHERE debate_id = NEW.debate_id) "
        "BEGIN SELECT RAISE(ABORT, 'origins are append-only: this origin is stored already'); END"
    ),
    "streams_refuse_delete": _refuse("streams", "DELETE"),
    "streams_refuse_replace": (
        "CREATE TRIGGER streams_refuse_replace BEFORE INSERT ON streams "
        "WHEN EXISTS (SELECT 1 FROM streams WHERE stream = NEW.stream) "
        "BEGIN SELECT RAISE(ABORT, 'streams are append-only: this head is stored already'); END"
    ),
    "streams_refuse_stray": (
        f"CREATE TRIGGER streams_refuse_stray BEFORE INSERT ON streams WHEN ({_HEAD_IS_LAST_EVENT}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'streams: {_HEAD_SAYS}'); END"
    ),
    "streams_refuse_update": (
        "CREATE TRIGGER streams_refuse_update BEFORE UPDATE ON streams "
        f"WHEN ({_HEAD_GOES_ON} AND {_HEAD_IS_LAST_EVENT}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'streams: {_HEAD_SAYS}'); END"
    ),
    "counters_refuse_insert": _refuse("counters", "INSERT"),
    "counters_refuse_delete": _refuse("counters", "DELETE"),
    "counters_refuse_update": (
        f"CREATE TRIGGER counters_refuse_update BEFORE UPDATE ON counters WHEN ({_COUNTER_GOES_ON}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'counters: {_COUNTER_SAYS}'); END"
    ),
    "attestations_refuse_update": _refuse("attestations", "UPDATE"),
    "attestations_refuse_delete": _refuse("attestations", "DELETE"),
    "attestations_refuse_replace": (
        "CREATE TRIGGER attestations_refuse_replace BEFORE INSERT ON attestations "
        "WHEN EXISTS (SELECT 1 FROM attestations WHERE digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'attestations are append-only: this attestation is stored already'); END"
    ),
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
        f"BEGIN IF (TG_OP = 'INSERT' OR {_HEAD_GOES_ON}) AND {_HEAD_IS_LAST_EVENT} THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'streams: % refused, {_HEAD_SAYS}', TG_OP USING ERRCODE = 'insufficient_privilege'; END"
    ),
    "jury_refuse_other_count": (
        f"BEGIN IF ({_COUNTER_GOES_ON}) THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'counters: % refused, {_COUNTER_SAYS}', TG_OP USING ERRCODE = 'insufficient_privilege'; END"
    ),
}

POSTGRES_TRIGGERS: dict[str, PostgresTrigger] = {
    "events_refuse_change": PostgresTrigger("events", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"),
    "events_refuse_truncate": PostgresTrigger("events", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "parts_refuse_update": PostgresTrigger("parts", "BEFORE UPDATE", "ROW", "jury_refuse_change"),
    "parts_refuse_delete": PostgresTrigger("parts", "BEFORE DELETE", "ROW", "jury_refuse_unrecorded_erasure"),
    "parts_refuse_truncate": PostgresTrigger("parts", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "seals_refuse_change": PostgresTrigger("seals", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"),
    "seals_refuse_truncate": PostgresTrigger("seals", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "origins_refuse_change": PostgresTrigger("origins", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"),
    "origins_refuse_truncate": PostgresTrigger("origins", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "streams_refuse_delete": PostgresTrigger("streams", "BEFORE DELETE", "ROW", "jury_refuse_change"),
    "streams_refuse_other": PostgresTrigger("streams", "BEFORE INSERT OR UPDATE", "ROW", "jury_refuse_other_head"),
    "streams_refuse_truncate": PostgresTrigger("streams", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "counters_refuse_change": PostgresTrigger("counters", "BEFORE INSERT OR DELETE", "ROW", "jury_refuse_change"),
    "counters_refuse_other": PostgresTrigger("counters", "BEFORE UPDATE", "ROW", "jury_refuse_other_count"),
    "counters_refuse_truncate": PostgresTrigger("counters", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    "attestations_refuse_change": PostgresTrigger(
        "attestations", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"
    ),
    "attestations_refuse_truncate": PostgresTrigger(
        "attestations", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"
    ),
}
