"""Alembic's environment: runs the revisions on the connection that `jury_migrations.upgrading` passes."""

from alembic import context

from jury_store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
