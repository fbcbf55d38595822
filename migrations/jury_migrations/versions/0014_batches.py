"""Texts of a batch may be deleted, too, once their erasure is recorded: in the stream of the batch."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace what refuses to delete texts; rows are unchanged."""
    for statement in _SQLITE_GUARDS if op.get_bind().dialect.name == "sqlite" else _POSTGRES_GUARDS:
        # Percent signs belong to the functions, not to the driver.
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


_ERASURE = (
    "EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased' "
    "OR stream = 'batches/' || OLD.debate_id AND type = 'batch_texts_erased')"
)

_SQLITE_GUARDS = (
    "DROP TRIGGER parts_refuse_delete",
    (
        f"CREATE TRIGGER parts_refuse_delete BEFORE DELETE ON parts WHEN NOT {_ERASURE} "
        "BEGIN SELECT RAISE(ABORT, 'parts are append-only: DELETE refused'); END"
    ),
)

_POSTGRES_GUARDS = (
    (
        "CREATE OR REPLACE FUNCTION jury_refuse_unrecorded_erasure() RETURNS trigger LANGUAGE plpgsql AS $$"
        f"BEGIN IF {_ERASURE} THEN RETURN OLD; END IF; "
        "RAISE EXCEPTION 'parts are append-only: DELETE refused, no erasure of % is recorded', OLD.debate_id "
        "USING ERRCODE = 'insufficient_privilege'; END$$"
    ),
    """DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION jury_refuse_unrecorded_erasure() SET search_path = %I, pg_temp', current_schema());
    END $$""",
)
