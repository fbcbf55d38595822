"""Connections to PostgreSQL that find the tables of one schema and no others."""

from typing import Any

from sqlalchemy import URL, Engine, create_engine, event

# Of the schemas that the database's own search path names, the first that is there: once and for all, before any role
# is set, because "$user" stands for the role of the moment. Temporary tables come last, else they would come first.
_FIX_SEARCH_PATH = (
    "SELECT pg_catalog.set_config('search_path', "
    "pg_catalog.quote_ident(coalesce(pg_catalog.current_schema(), 'public')) || ', pg_temp', false)"
)


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine whose connections look for tables in the store's schema alone; `options` are those of SQLAlchemy."""
    # A connection that a restarted server has closed is replaced before it is used, not by failing whoever gets it.
    engine = create_engine(url, connect_args={"connect_timeout": 10}, pool_pre_ping=True, **options)

    @event.listens_for(engine, "connect")
    def _fix_search_path(connection: Any, _record: Any) -> None:
        connection.execute(_FIX_SEARCH_PATH)
        connection.commit()

    return engine
