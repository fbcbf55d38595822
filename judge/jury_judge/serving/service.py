"""What requests need: the store, its live feed, and the submissions of this process."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from jury_events.ids import debate_stream
from jury_judge.live.feed import MOST_READERS, Feed
from jury_judge.records.records import Records
from jury_judge.running.live_runs import LiveRuns
from jury_judge.serving.reviewing import Reviewing
from jury_judge.serving.store_reader import StoreReader
from jury_judge.serving.submission_states import SubmissionStates
from jury_judge.serving.submissions import MakeJury, Submissions
from jury_judge.statistics.run_reports import RunReports
from jury_store.event_store import EventStore
from jury_store.sqlite import LockHolder, read_lock_holder

MAX_RUNNING = 500
"""Evaluations and runs that a server executes at once; the others wait in the store."""

ALIVE_EVERY = 15.0
"""Seconds without an event after which a live reader gets a keep-alive comment."""


class Service:
    """Shared by all requests of a server, in one event loop.

    Args:
        store: open for reading; closed with the service.
        panels: makes the Jury of each panel; None: the server is read-only.
        readers: maximum of live readers.
        alive_every: seconds without an event after which a live reader gets a keep-alive comment.
        database: the file of a SQLite store, whose lock file names the writer.
        store_url: of the store, to ask which process executes a run; None where it is in memory.
        reviewing: how people review; None: not over this server.
    """

    def __init__(
        self,
        store: EventStore,
        panels: Mapping[str, MakeJury] | None = None,
        *,
        readers: int = MOST_READERS,
        alive_every: float = ALIVE_EVERY,
        database: Path | None = None,
        store_url: str | None = None,
        reviewing: Reviewing | None = None,
    ) -> None:
        self.store = store
        self.reader = StoreReader(store)
        self.alive_every = alive_every
        self.feed = Feed(store, most=readers)
        self.records = Records.over(store, self.feed, store_url or "")
        self.reports = RunReports(store)
        self.live_runs = LiveRuns(store, store_url)
        self.submissions = Submissions(panels or {}, store, self.feed, store_url=store_url, most=MAX_RUNNING)
        self.submission_states = SubmissionStates(self.submissions, store)
        self.reviewing = reviewing
        self._database = database

    async def is_known(self, debate_id: str) -> bool:
        """Whether a debate is recorded."""
        stream = debate_stream(debate_id)
        return stream in await asyncio.to_thread(self.store.heads, [stream])

    def has_reviewed(self, reviewer: str, debate_id: str) -> bool:
        """Whether a person has given a verdict on a debate that stands."""
        row = self.store.debate(debate_id)
        return row is not None and row.review_facts.by(reviewer) is not None

    def writer(self) -> LockHolder | None:
        """The process that writes to the SQLite store; None where there is none, or for another database."""
        return None if self._database is None else read_lock_holder(self._database)

    def end(self) -> None:
        """Disconnect live readers before shutdown."""
        self.feed.end()

    async def close(self) -> None:
        """Stop running submissions, and close the store."""
        self.end()
        try:
            await self.submissions.close()
        finally:
            if self.reviewing is not None:
                await self.reviewing.close()
            await self.feed.close()
            await asyncio.to_thread(self.reports.close)
            await asyncio.to_thread(self.live_runs.close)
            await asyncio.to_thread(self.store.close)
