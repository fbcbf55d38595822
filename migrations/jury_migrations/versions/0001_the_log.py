"""The log: events, streams, parts, counters, seals, the lists, and the triggers of append-only tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table, then the triggers."""
    _make_log()
    _make_lists()
    op.execute("INSERT INTO counters (name, value) VALUES ('position', 0), ('epoch', 0)")
    op.execute("INSERT INTO projections (name, position) VALUES ('lists', 0)")
    if op.get_bind().dialect.name == "sqlite":
        for statement in _SQLITE_GUARDS:
            op.execute(statement)
        return
    for statement in _POSTGRES_GUARDS:
        # Percent signs belong to the function, not to the driver.
        op.execute(sa.text(statement.replace(":", r"\:")))
    # ANALYZE would copy texts into pg_statistic, where no erasure finds them.
    op.execute("ALTER TABLE parts ALTER COLUMN content SET STATISTICS 0")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


def _make_log() -> None:
    op.create_table(
        "events",
        sa.Column("position", _SERIAL, autoincrement=False, nullable=False),
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("event_id", _NAME, nullable=False),
        sa.Column("type", _NAME, nullable=False),
        sa.Column("schema", sa.Integer(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="events_pkey"),
        sa.UniqueConstraint("stream", "version", name="events_stream_version"),
        sa.UniqueConstraint("stream", "event_id", name="events_stream_event_id"),
    )
    op.create_table(
        "streams",
        sa.Column("stream", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("stream", name="streams_pkey"),
    )
    op.create_table(
        "parts",
        sa.Column("debate_id", _NAME, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("debate_id", "digest", name="parts_pkey"),
    )
    op.create_table(
        "counters",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="counters_pkey"),
    )
    op.create_table(
        "seals",
        sa.Column("tree_size", _SERIAL, autoincrement=False, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tree_size", name="seals_pkey"),
    )


def _make_lists() -> None:
    op.create_table(
        "projections",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="projections_pkey"),
    )
    op.create_table(
        "debates",
        sa.Column("debate_id", _NAME, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("run_id", _NAME),
        sa.Column("case_id", _NAME, nullable=False),
        sa.Column("status", _NAME, nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("method", _NAME, nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("label", _NAME),
        sa.Column("case_part", sa.LargeBinary(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("final_verdict", _NAME),
        sa.Column("final_score", sa.Integer()),
        sa.Column("total_rounds", sa.Integer()),
        sa.Column("early_termination", sa.Boolean()),
        sa.Column("end_reason", _NAME),
        sa.Column("decided_by", _NAME),
        sa.Column("quorum_met", sa.Boolean()),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Float()),
        sa.Column("asked_again", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("debate_id", name="debates_pkey"),
    )
    op.create_index("debates_position", "debates", ["position"], unique=True)
    op.create_index("debates_run", "debates", ["run_id", "position"])
    unfinished = sa.text("ended_at IS NULL")
    op.create_index("debates_unfinished", "debates", ["position"], sqlite_where=unfinished, postgresql_where=unfinished)
    op.create_table(
        "runs",
        sa.Column("run_id", _NAME, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("debates", sa.Integer(), nullable=False),
        sa.Column("completed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("cancelled", sa.Integer(), nullable=False),
        sa.Column("safe_pass", sa.Integer(), nullable=False),
        sa.Column("needs_review", sa.Integer(), nullable=False),
        sa.Column("unsafe_fail", sa.Integer(), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="runs_pkey"),
    )


def _sqlite_refusal(table: str, verb: str, condition: str = "") -> str:
    return (
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} {condition}"
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: {verb} refused'); END"
    )


_ERASURE = "EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased')"

_SQLITE_GUARDS = (
    _sqlite_refusal("events", "UPDATE"),
    _sqlite_refusal("events", "DELETE"),
    (
        "CREATE TRIGGER events_refuse_replace BEFORE INSERT ON events "
        "WHEN EXISTS (SELECT 1 FROM events WHERE position = NEW.position) "
        "OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version) "
        "OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND event_id = NEW.event_id) "
        "BEGIN SELECT RAISE(ABORT, 'events are append-only: this event is stored already'); END"
    ),
    _sqlite_refusal("parts", "UPDATE"),
    _sqlite_refusal("parts", "DELETE", f"WHEN NOT {_ERASURE} "),
    (
        "CREATE TRIGGER parts_refuse_replace BEFORE INSERT ON parts "
        "WHEN EXISTS (SELECT 1 FROM parts WHERE debate_id = NEW.debate_id AND digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'parts are append-only: this part is stored already'); END"
    ),
    _sqlite_refusal("seals", "UPDATE"),
    _sqlite_refusal("seals", "DELETE"),
    (
        "CREATE TRIGGER seals_refuse_replace BEFORE INSERT ON seals "
        "WHEN EXISTS (SELECT 1 FROM seals WHERE tree_size = NEW.tree_size) "
        "BEGIN SELECT RAISE(ABORT, 'seals are append-only: this seal is stored already'); END"
    ),
)


def _postgres_trigger(name: str, table: str, when: str, per: str, function: str) -> tuple[str, str]:
    return (
        f"CREATE TRIGGER {name} {when} ON {table} FOR EACH {per} EXECUTE FUNCTION {function}()",
        f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}",
    )


_POSTGRES_GUARDS = (
    (
        "CREATE FUNCTION jury_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$"
        "BEGIN RAISE EXCEPTION '% are append-only: % refused', TG_TABLE_NAME, TG_OP "
        "USING ERRCODE = 'insufficient_privilege'; END$$"
    ),
    (
        "CREATE FUNCTION jury_refuse_unrecorded_erasure() RETURNS trigger LANGUAGE plpgsql AS $$"
        f"BEGIN IF {_ERASURE} THEN RETURN OLD; END IF; "
        "RAISE EXCEPTION 'parts are append-only: DELETE refused, no erasure of % is recorded', OLD.debate_id "
        "USING ERRCODE = 'insufficient_privilege'; END$$"
    ),
    *_postgres_trigger("events_refuse_change", "events", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"),
    *_postgres_trigger("events_refuse_truncate", "events", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    *_postgres_trigger("parts_refuse_update", "parts", "BEFORE UPDATE", "ROW", "jury_refuse_change"),
    *_postgres_trigger("parts_refuse_delete", "parts", "BEFORE DELETE", "ROW", "jury_refuse_unrecorded_erasure"),
    *_postgres_trigger("parts_refuse_truncate", "parts", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
    *_postgres_trigger("seals_refuse_change", "seals", "BEFORE UPDATE OR DELETE", "ROW", "jury_refuse_change"),
    *_postgres_trigger("seals_refuse_truncate", "seals", "BEFORE TRUNCATE", "STATEMENT", "jury_refuse_change"),
)
