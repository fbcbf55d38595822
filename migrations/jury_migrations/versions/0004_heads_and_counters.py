"""Triggers on heads and counters; triggers on PostgreSQL search the store's schema only."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the triggers; rows are unchanged."""
    for statement in _SQLITE_GUARDS if op.get_bind().dialect.name == "sqlite" else _POSTGRES_GUARDS:
        # Percent signs belong to the functions, not to the driver.
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


_LAST = (
    "(NEW.version, NEW.hash) = "
    "(SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1)"
)
_GOES_ON = "NEW.stream = OLD.stream AND NEW.version >= OLD.version AND NEW.epoch >= OLD.epoch"
_HEAD_SAYS = "the head of a stream is its last event, and neither its version nor its epoch goes back"
_COUNTS_ON = (
    "CASE WHEN NEW.name <> OLD.name THEN FALSE WHEN OLD.name = 'epoch' THEN NEW.value = OLD.value + 1 "
    "WHEN NEW.value > OLD.value THEN NEW.value = (SELECT max(position) FROM events) AND NEW.value = "
    "(SELECT position FROM events WHERE position > OLD.value ORDER BY position "
    "LIMIT 1 OFFSET NEW.value - OLD.value - 1) END"
)
_COUNTER_SAYS = "the position is that of the last event, without a gap, and the epoch grows by one"


def _sqlite_refusal(table: str, verb: str) -> str:
    return (
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: {verb} refused'); END"
    )


_SQLITE_GUARDS = (
    _sqlite_refusal("streams", "DELETE"),
    (
        "CREATE TRIGGER streams_refuse_replace BEFORE INSERT ON streams "
        "WHEN EXISTS (SELECT 1 FROM streams WHERE stream = NEW.stream) "
        "BEGIN SELECT RAISE(ABORT, 'streams are append-only: this head is stored already'); END"
    ),
    (
        f"CREATE TRIGGER streams_refuse_stray BEFORE INSERT ON streams WHEN ({_LAST}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'streams: {_HEAD_SAYS}'); END"
    ),
    (
        "CREATE TRIGGER streams_refuse_update BEFORE UPDATE ON streams "
        f"WHEN ({_GOES_ON} AND {_LAST}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'streams: {_HEAD_SAYS}'); END"
    ),
    _sqlite_refusal("counters", "INSERT"),
    _sqlite_refusal("counters", "DELETE"),
    (
        f"CREATE TRIGGER counters_refuse_update BEFORE UPDATE ON counters WHEN ({_COUNTS_ON}) IS NOT TRUE "
        f"BEGIN SELECT RAISE(ABORT, 'counters: {_COUNTER_SAYS}'); END"
    ),
)


def _postgres_trigger(name: str, table: str, when: str, per: str, function: str) -> tuple[str, str]:
    return (
        f"CREATE TRIGGER {name} {when} ON {table} FOR EACH {per} EXECUTE FUNCTION {function}()",
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}",
    )


# Temporary tables come first unless they are named last: one named events would hide the log.
_FIX_SEARCH_PATH = """
DO $$
DECLARE function text;
BEGIN
    FOREACH function IN ARRAY ARRAY['jury_refuse_change', 'jury_refuse_unrecorded_erasure', 'jury_refuse_other_head',
                                    'jury_refuse_other_count']
    LOOP
        EXECUTE format('ALTER FUNCTION %I() SET search_path = %I, pg_temp', function, current_schema());
    END LOOP;
END $$
"""

_POSTGRES_GUARDS = (
    (
        "CREATE FUNCTION jury_refuse_other_head() RETURNS trigger LANGUAGE plpgsql AS $$"
        f"BEGIN IF (TG_OP = 'INSERT' OR {_GOES_ON}) AND {_LAST} THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'streams: % refused, {_HEAD_SAYS}', TG_OP USING ERRCODE = 'insufficient_privilege'; END$$"
    ),
    (
        "CREATE FUNCTION jury_refuse_other_count() RETURNS trigger LANGUAGE plpgsql AS $$"
        f"BEGIN IF ({_COUNTS_ON}) THEN RETURN NEW; END IF; "
        f"RAISE EXCEPTION 'counters: % refused, {_COUNTER_SAYS}', TG_OP USING ERRCODE = 'insufficient_privilege'; END$$"
    ),
    _FIX_SEARCH_PATH,
    *_postgres_trigger("streams_refuse_delete", "streams", "BEFORE DELETE", "ROW", "jury_refuse_change"),
    *_postgres_trigger("streams_refuse_other", "streams", "BEFORE INSERT OR UPDATE", "ROW", "jury_refuse_other_head"),
    *_postgres_trigger("streams_refuse_truncate", "streams", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    *_postgres_trigger("counters_refuse_change", "counters", "BEFORE INSERT OR DELETE", "ROW", "jury_refuse_change"),
    *_postgres_trigger("counters_refuse_other", "counters", "BEFORE UPDATE", "ROW", "jury_refuse_other_count"),
    *_postgres_trigger("counters_refuse_truncate", "counters", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
)
