"""Indexes of what a run looks for before it goes on: its unfinished, imported and unreadable debates."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_INDEXES = {
    "debates_run_unfinished": "ended_at IS NULL",
    "debates_run_imported": "imported IS NOT NULL",
    "debates_run_unreadable": "problem IS NOT NULL",
}


def upgrade() -> None:
    """Add partial indexes to the list of debates; rows, events and texts are unchanged."""
    for name, rows in _INDEXES.items():
        where = sa.text(rows)
        op.create_index(name, "debates", ["run_id", "position"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
