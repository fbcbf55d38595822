"""One process at a time writes the scores of a store to tools.

It is another lock than that of the store's writer, which others may have meanwhile: without it a second export would
take a debate that is being written for one whose process has died, and write it again.
"""

from jury_judge.stores.stores import shown_url
from jury_store.errors import StoreLocked
from jury_store.opening import database_path, parse_store_url
from jury_store.run_registry import RunLock
from jury_store.sqlite import SqliteLock

_NAME = "jury export --to"
"""No run has such an id."""


def export_lock(url: str, *, wait: float) -> RunLock | SqliteLock:
    """The lock of the exports of a store, until it is released.

    Args:
        url: of the store.
        wait: seconds to wait for another process.
    """
    try:
        return _taken(url, wait)
    except StoreLocked:
        raise StoreLocked(
            f"another process exports scores of {shown_url(url)}; repeat the command when it has ended"
        ) from None


def _taken(url: str, wait: float) -> RunLock | SqliteLock:
    parsed = parse_store_url(url)
    if parsed.get_backend_name() == "sqlite":
        database = database_path(parsed)
        return SqliteLock.acquire(database.with_name(f"{database.name}.export"), run=_NAME, wait=wait)
    lock = RunLock.acquire(url, _NAME, wait=wait)
    assert lock is not None, "it is the store of a server"
    return lock
