"""In the lists: what the evaluations of a debate quote, the decisive item of its seats, and the label of its verdict.

No debate that was recorded before has a label: it belongs to a scale of the panel's own.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_QUOTED = {
    "sqlite": "instr(body, CAST('\"evidence\"' AS BLOB)) > 0",
    "postgresql": "position(convert_to('\"evidence\"', 'UTF8') in body) > 0",
}
"""Whether the body of an event may have evidence, by database."""


def upgrade() -> None:
    """Add columns; where an evaluation was asked for evidence, the lists are rebuilt from the log."""
    op.add_column("debates", sa.Column("final_label", sa.Text()))
    op.add_column("debates", sa.Column("evidence", sa.Text()))
    op.add_column("debates", sa.Column("evidence_values", sa.Integer()))
    quoted = _QUOTED[op.get_context().dialect.name]
    asked = f"SELECT 1 FROM events WHERE type = 'juror_evaluated' AND {quoted} LIMIT 1"  # noqa: S608  (constants)
    if op.get_bind().execute(sa.text(asked)).first() is not None:
        for table in ("debates", "debate_fields", "runs", "ballots"):
            op.execute(sa.delete(sa.table(table)))
        op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
