"""The log: events, streams, parts, counters, seals, the lists, and the triggers of append-only tables.

The statements are in a file for each database, as `jury_store.schema_statements` made them from the declared schema.
"""

from pathlib import Path

from alembic import op

revision = "log_0001"
down_revision = None
branch_labels = None
depends_on = None

SEPARATOR = "\n;\n"


def upgrade() -> None:
    """Create every table, then the triggers."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    file = Path(__file__).with_suffix(f".{connection.dialect.name}.sql")
    for statement in file.read_text(encoding="utf-8").rstrip("\n").removesuffix("\n;").split(SEPARATOR):
        # Percent signs belong to the function, not to the driver.
        connection.exec_driver_sql(statement if sqlite else statement.replace("%", "%%"))


def downgrade() -> None:
    """Not supported: a log is append-only."""
    raise RuntimeError("a store is not downgraded; export it, or restore a backup made before the upgrade")
