"""In the lists: the reviews of people, and whether a verdict was accepted. No log has any yet: the rows stay."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns to the list of debates; events and texts are unchanged."""
    op.add_column("debates", sa.Column("accepted", sa.Boolean()))
    op.add_column("debates", sa.Column("human_verdict", _NAME))
    op.add_column("debates", sa.Column("reviews", sa.Text()))
    op.add_column("debates", sa.Column("assignments", sa.Text()))
    op.execute("UPDATE debates SET reviews = '[]', assignments = '[]'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
