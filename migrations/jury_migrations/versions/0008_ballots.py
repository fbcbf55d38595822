"""The ballots of debates; the lists are rebuilt from the log."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Empty the lists and reset their checkpoint; events and texts are unchanged."""
    op.create_table(
        "ballots",
        sa.Column("debate_id", _NAME, nullable=False),
        sa.Column("panel", _NAME),
        sa.Column("votes", sa.Text()),
        sa.PrimaryKeyConstraint("debate_id", name="ballots_pkey"),
    )
    for table in ("debates", "debate_fields", "runs"):
        op.execute(sa.delete(sa.table(table)))
    op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
