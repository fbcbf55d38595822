"""The table of cosignatures and time-stamps of seals."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table with its triggers; nothing else changes."""
    op.create_table(
        "attestations",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("tree_size", sa.BigInteger(), nullable=False),
        sa.Column("kind", _NAME, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="attestations_pkey"),
    )
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


_SQLITE = (
    (
        "CREATE TRIGGER attestations_refuse_update BEFORE UPDATE ON attestations "
        "BEGIN SELECT RAISE(ABORT, 'attestations are append-only: UPDATE refused'); END"
    ),
    (
        "CREATE TRIGGER attestations_refuse_delete BEFORE DELETE ON attestations "
        "BEGIN SELECT RAISE(ABORT, 'attestations are append-only: DELETE refused'); END"
    ),
    (
        "CREATE TRIGGER attestations_refuse_replace BEFORE INSERT ON attestations "
        "WHEN EXISTS (SELECT 1 FROM attestations WHERE digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'attestations are append-only: this attestation is stored already'); END"
    ),
)

_POSTGRESQL = (
    (
        "CREATE TRIGGER attestations_refuse_change BEFORE UPDATE OR DELETE ON attestations "
        "FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()"
    ),
    "ALTER TABLE attestations ENABLE ALWAYS TRIGGER attestations_refuse_change",
    (
        "CREATE TRIGGER attestations_refuse_truncate BEFORE TRUNCATE ON attestations "
        "FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()"
    ),
    "ALTER TABLE attestations ENABLE ALWAYS TRIGGER attestations_refuse_truncate",
)
