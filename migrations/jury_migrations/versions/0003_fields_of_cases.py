"""Debates are indexed by tags, metadata and cluster of their cases; the lists are rebuilt from the log."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_UNFINISHED = sa.text("ended_at IS NULL")


def upgrade() -> None:
    """Empty the lists and reset their checkpoint; events and texts are unchanged."""
    op.drop_table("debates")
    op.create_table(
        "debates",
        sa.Column("debate_id", _NAME, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("run_id", _NAME),
        sa.Column("case_id", _NAME, nullable=False),
        sa.Column("status", _NAME, nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("method", _NAME, nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("label", _NAME),
        sa.Column("cluster", _NAME),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("agent_cost", sa.Float()),
        sa.Column("not_shown", sa.Integer(), nullable=False),
        sa.Column("case_part", sa.LargeBinary(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("final_verdict", _NAME),
        sa.Column("final_score", sa.Integer()),
        sa.Column("total_rounds", sa.Integer()),
        sa.Column("early_termination", sa.Boolean()),
        sa.Column("end_reason", _NAME),
        sa.Column("decided_by", _NAME),
        sa.Column("quorum_met", sa.Boolean()),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Float()),
        sa.Column("asked_again", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("debate_id", name="debates_pkey"),
    )
    op.create_index("debates_position", "debates", ["position"], unique=True)
    op.create_index("debates_run", "debates", ["run_id", "position"])
    op.create_index(
        "debates_unfinished", "debates", ["position"], sqlite_where=_UNFINISHED, postgresql_where=_UNFINISHED
    )
    op.create_table(
        "debate_fields",
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("value", _NAME, nullable=False),
        sa.PrimaryKeyConstraint("position", "name", "value", name="debate_fields_pkey"),
    )
    op.create_index("debate_fields_value", "debate_fields", ["name", "value", "position"])
    op.execute("DELETE FROM runs")
    op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
