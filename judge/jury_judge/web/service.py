"""What requests are served from: the store that is read, its live feed, and what this process holds."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from jury_events.ids import debate_stream
from jury_judge.live.feed import MOST_READERS, Feed
from jury_judge.web.submissions import MakeJury, Submissions
from jury_store.event_store import EventStore
from jury_store.sqlite_lock import LockHolder, read_lock_holder

ALIVE_EVERY = 15.0
"""Seconds of silence after which a live reader is told that the connection is alive."""


class Service:
    """Shared by all requests of a server, in one event loop.

    Args:
        store: open for reading; closed with the service.
        panels: how to make the Jury of each panel; none: nothing is held here.
        readers: live readers at once.
        alive_every: seconds of silence after which a live reader is sent a sign of life.
        database: the file of a SQLite store, beside which its writer is named.
    """

    def __init__(
        self,
        store: EventStore,
        panels: Mapping[str, MakeJury] | None = None,
        *,
        readers: int = MOST_READERS,
        alive_every: float = ALIVE_EVERY,
        database: Path | None = None,
    ) -> None:
        self.store = store
        self.alive_every = alive_every
        self.feed = Feed(store, most=readers)
        self.submissions = Submissions(panels or {}, store, self.feed)
        self._database = database

    async def is_known(self, debate_id: str) -> bool:
        """Whether a debate is recorded, or about to be."""
        if self.submissions.find("evaluation", debate_id) is not None:
            return True
        stream = debate_stream(debate_id)
        return stream in await asyncio.to_thread(self.store.heads, [stream])

    def writer(self) -> LockHolder | None:
        """Which process writes to the SQLite store; None: none does, or the store is another database."""
        return None if self._database is None else read_lock_holder(self._database)

    def end(self) -> None:
        """Let live readers go: the server is about to stop."""
        self.feed.end()

    async def close(self) -> None:
        """Stop what runs where it is, and let go of the store."""
        self.end()
        try:
            await self.submissions.close()
        finally:
            await self.feed.close()
            await asyncio.to_thread(self.store.close)
