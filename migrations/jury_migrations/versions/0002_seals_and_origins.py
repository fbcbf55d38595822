"""Seals get their frontier; imported debates have the seal of their original store."""

# ruff: noqa: S608  (the statements are put together from constants)

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create both tables with their triggers; events and texts are unchanged."""
    # No version before this revision stored a seal, so the table is recreated. Dropping it drops its triggers.
    op.drop_table("seals")
    op.create_table(
        "seals",
        sa.Column("tree_size", _SERIAL, autoincrement=False, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("frontier", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tree_size", name="seals_pkey"),
    )
    op.create_table(
        "origins",
        sa.Column("debate_id", _NAME, nullable=False),
        sa.Column("seal", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("debate_id", name="origins_pkey"),
    )
    if op.get_bind().dialect.name == "sqlite":
        guards = (*_sqlite_guards("seals", "tree_size", "seal"), *_sqlite_guards("origins", "debate_id", "origin"))
    else:
        guards = (*_postgres_guards("seals"), *_postgres_guards("origins"))
    for statement in guards:
        op.execute(statement)


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


def _sqlite_guards(table: str, key: str, one: str) -> tuple[str, ...]:
    changes = tuple(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: {verb} refused'); END"
        for verb in ("UPDATE", "DELETE")
    )
    replacement = (
        f"CREATE TRIGGER {table}_refuse_replace BEFORE INSERT ON {table} "
        f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key}) "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only: this {one} is stored already'); END"
    )
    return (*changes, replacement)


def _postgres_guards(table: str) -> tuple[str, ...]:
    return tuple(
        statement
        for name, when, per in (
            (f"{table}_refuse_change", "BEFORE UPDATE OR DELETE", "ROW"),
            (f"{table}_refuse_truncate", "BEFORE TRUNCATE", "STATEMENT"),
        )
        for statement in (
            f"CREATE TRIGGER {name} {when} ON {table} FOR EACH {per} EXECUTE FUNCTION jury_refuse_change()",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}",
        )
    )
