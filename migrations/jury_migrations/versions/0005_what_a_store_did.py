"""Lists show imported, quarantined and unreadable debates; they are rebuilt from the log."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Empty the lists and reset their checkpoint; events and texts are unchanged."""
    for name in ("imported", "imported_from", "quarantined", "problem"):
        op.add_column("debates", sa.Column(name, _NAME))
    for table in ("debates", "debate_fields", "runs"):
        op.execute(sa.delete(sa.table(table)))
    op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
