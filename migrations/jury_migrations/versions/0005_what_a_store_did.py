"""Lists say which debates were imported, quarantined or cannot be read; they are made anew from the log."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the lists as if nothing were carried; events and texts are not touched."""
    for name in ("imported", "imported_from", "quarantined", "problem"):
        op.add_column("debates", sa.Column(name, _NAME))
    for table in ("debates", "debate_fields", "runs"):
        op.execute(sa.delete(sa.table(table)))
    op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Nothing goes back: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
