"""Differences between a store's schema and the declared one, its revision too."""

from jury_migrations.schema_differences import schema_differences
from jury_migrations.upgrading import connected
from jury_store.schema import REVISION
from jury_store.schema_statements import stored_revision


def check(url: str) -> list[str]:
    """The differences between the store at `url` and the declared schema, one line each.

    Raises:
        StoreMissing, StoreUnreachable, UnsupportedStore: there is no store, or it cannot be reached.
    """
    with connected(url) as connection:
        found = stored_revision(connection)
        revision = [] if found == REVISION else [f"the revision is {found or 'none'}, not {REVISION}"]
        return [*revision, *schema_differences(connection)]
