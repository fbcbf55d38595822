"""Connections to PostgreSQL that see the tables of one schema only."""

from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

# The first existing schema of the database's own search path. It is fixed before any role is set, because "$user"
# means the current role. Temporary tables come last; without being named they would come first.
_FIX_SEARCH_PATH = (
    "SELECT pg_catalog.set_config('search_path', "
    "pg_catalog.quote_ident(coalesce(pg_catalog.current_schema(), 'public')) || ', pg_temp', false)"
)


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine whose connections search the store's schema alone; `options` are those of SQLAlchemy."""
    # A connection that a restarted server closed is replaced before use.
    engine = create_engine(url, connect_args={"connect_timeout": 10}, pool_pre_ping=True, **options)

    @event.listens_for(engine, "connect")
    def _fix_search_path(connection: Any, _record: Any) -> None:
        connection.execute(_FIX_SEARCH_PATH)
        connection.commit()

    return engine
