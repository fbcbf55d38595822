"""In the lists: the parts of a long record that seats did not read.

No judgment that was recorded before names any, so rows are unchanged.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column."""
    op.add_column("debates", sa.Column("partly_read", sa.Text()))


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
