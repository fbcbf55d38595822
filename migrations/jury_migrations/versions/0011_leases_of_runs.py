"""What a run with a budget has taken at most; a fork counts only the calls that it made itself."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns; where a debate is a fork, the lists are rebuilt from the log. Events and texts are unchanged."""
    op.add_column("run_sizes", sa.Column("calls_at_most", sa.BigInteger()))
    op.add_column("run_sizes", sa.Column("cost_at_most", sa.Float()))
    op.add_column("debates", sa.Column("inherited_steps", sa.Text()))
    forks = sa.text("SELECT 1 FROM events WHERE type = 'debate_forked' LIMIT 1")
    if op.get_bind().execute(forks).first() is not None:
        for table in ("debates", "debate_fields", "runs", "ballots"):
            op.execute(sa.delete(sa.table(table)))
        op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
