"""`Database`: the schema of a store, its lists, and debates that are set aside in it."""

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from typing import NamedTuple, TypeVar

from jury_judge.blocking import BlockingWork
from jury_judge.store_access.stores import WRITER_WAIT, open_writer
from jury_store.event_store import EventStore

T = TypeVar("T")

Changed = Callable[[str, bool], None]
"""Takes the id of a debate, and whether anything had to be done."""


class SchemaRevision(NamedTuple):
    """The revision of the schema that a store has, None without a store; and the one that this version needs."""

    found: str | None
    needed: str


class Database(BlockingWork):
    """The database of a store, which need not exist yet.

    Args:
        store_url: `sqlite:///PATH` or `postgresql://…`.
        threads: as of `Records`.
    """

    def __init__(self, store_url: str, *, threads: bool = True) -> None:
        super().__init__(threads=threads)
        self.store_url = store_url

    async def upgrade(self) -> str:
        """Create the store, or bring its schema up to date; returns its revision. Events are never rewritten."""
        from jury_migrations.upgrading import upgrade

        return await self._blocking(upgrade, self.store_url)

    async def revision(self) -> SchemaRevision:
        """The schema that the store has, and the one that is needed."""
        from jury_migrations.upgrading import current
        from jury_store.schema import REVISION

        return SchemaRevision(await self._blocking(current, self.store_url), REVISION)

    async def check(self) -> list[str]:
        """The differences between the database and the declared schema, its triggers too, one line each."""
        from jury_migrations.upgrading import check

        return await self._blocking(check, self.store_url)

    async def rebuild(self) -> int:
        """Rebuild the lists of debates and runs from the log; returns the number of its events."""
        return await self._blocking(self._write, "db rebuild", lambda store: store.rebuild())

    async def quarantine(
        self, debate_ids: Iterable[str], *, by: str, reason: str, changed: Changed = lambda _id, _done: None
    ) -> None:
        """Set debates aside: lists, runs and whatever works on many debates leave them out; named, they are still read.

        Nothing is moved or deleted: an event in the log says so.

        Args:
            debate_ids: of stored debates, readable or not.
            by, reason: who does it and why, one line each; recorded for ever.
            changed: called after each debate; its flag is False where the debate is set aside already.
        """
        from jury_replay.quarantine import quarantine

        await self._blocking(self._write, "db", _each(debate_ids, partial(quarantine, by=by, reason=reason), changed))

    async def release(self, debate_ids: Iterable[str], *, by: str, changed: Changed = lambda _id, _done: None) -> None:
        """Take debates back out of quarantine. Arguments and errors as of `quarantine`."""
        from jury_replay.quarantine import release

        await self._blocking(self._write, "db", _each(debate_ids, partial(release, by=by), changed))

    def _write(self, run: str, writing: Callable[[EventStore], T]) -> T:
        with closing(open_writer(self.store_url, run=run, wait=WRITER_WAIT)) as store:
            return writing(store)


def _each(
    debate_ids: Iterable[str], work: Callable[[EventStore, str], bool], changed: Changed
) -> Callable[[EventStore], None]:
    def each(store: EventStore) -> None:
        for one in dict.fromkeys(debate_ids):
            changed(one, work(store, one))

    return each
