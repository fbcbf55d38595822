"""In the lists: the stage of a debate of a ladder, and why it does not count for its case.

No debate that was recorded before is of a ladder, so rows are unchanged.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add columns."""
    op.add_column("debates", sa.Column("stage", sa.Integer()))
    op.add_column("debates", sa.Column("stages", sa.Integer()))
    op.add_column("debates", sa.Column("aside", _NAME))


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
