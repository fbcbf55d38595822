"""The triggers that keep the log append-only, by name, as a store must have them.

SQLite needs a guard before INSERT, because INSERT OR REPLACE deletes a row without firing its DELETE trigger.
PostgreSQL needs one for TRUNCATE, which fires no row trigger, and ENABLE ALWAYS, because a session may otherwise call
itself a replica and skip them.
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
    "attestations_refuse_change": PostgresTrigger(
        "attestations", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"
    ),
    "attestations_refuse_truncate": PostgresTrigger(
        "attestations", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"
    ),
}
