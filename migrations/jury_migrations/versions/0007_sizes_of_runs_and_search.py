"""Sizes of runs, full-text search, models in the lists; the lists are rebuilt from the log."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Empty the lists and reset their checkpoint; events and texts are unchanged."""
    op.create_table(
        "run_sizes",
        sa.Column("run_id", _NAME, nullable=False),
        sa.Column("cases", sa.Integer()),
        sa.PrimaryKeyConstraint("run_id", name="run_sizes_pkey"),
    )
    op.create_table(
        "search_texts",
        sa.Column(
            "position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("debate", sa.BigInteger(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("position", name="search_texts_pkey"),
    )
    op.create_index("search_texts_debate", "search_texts", ["debate"])
    sqlite = op.get_bind().dialect.name == "sqlite"
    op.execute(_SQLITE_INDEX if sqlite else _POSTGRESQL_INDEX)
    op.execute("INSERT INTO projections (name, position) VALUES ('search', 0)")
    op.add_column("debates", sa.Column("models", sa.Text()))
    for table in ("debates", "debate_fields", "runs"):
        op.execute(sa.delete(sa.table(table)))
    op.execute("UPDATE projections SET position = 0 WHERE name = 'lists'")
    if not sqlite:
        # ANALYZE would copy terms into pg_statistic, where no erasure finds them.
        op.execute("ALTER TABLE search_texts ALTER COLUMN terms SET STATISTICS 0")
        op.execute("ALTER INDEX search_index ALTER COLUMN 1 SET STATISTICS 0")


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")


_SQLITE_INDEX = (
    "CREATE VIRTUAL TABLE search_index USING fts5(terms, content='search_texts', content_rowid='position', "
    "tokenize=\"ascii tokenchars '_'\", detail=none, columnsize=0)"
)
_POSTGRESQL_INDEX = (
    "CREATE INDEX search_index ON search_texts USING gin (array_to_tsvector(string_to_array(terms, ' ')))"
)
