"""In the lists: the tokens that were read from prompt caches and written to them, and sums over those calls."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns; where a call is recorded, the lists are rebuilt from the log. Events and texts are unchanged."""
    op.add_column("debates", sa.Column("cached_input_tokens", sa.BigInteger()))
    op.add_column("debates", sa.Column("cache_write_tokens", sa.BigInteger()))
    op.add_column("debates", sa.Column("cached_calls", sa.Text()))
    op.execute("UPDATE debates SET cached_input_tokens = 0, cache_write_tokens = 0, cached_calls = '[]'")
    calls = sa.text("SELECT 1 FROM events WHERE type = 'exchange_recorded' LIMIT 1")
    if op.get_bind().execute(calls).first() is not None:
        for table in ("debates", "debate_fields", "runs", "ballots"):
            op.execute(sa.delete(sa.table(table)))
        op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
