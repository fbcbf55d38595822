"""What requests need: the store, its live feed, its submissions, and how this server lets people review."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from jury_events.review_facts import Review
from jury_judge.errors import ReviewerLeft, TooManyReviews
from jury_judge.feed import MOST_READERS, Feed
from jury_judge.records.records import Records
from jury_judge.reports.run_reports import RunReports
from jury_judge.reviews.review_changes import NewReview
from jury_judge.reviews.review_recorder import REVIEW_WAIT, ReviewRecorder
from jury_judge.runs.live_run import LiveRuns
from jury_judge.serving.store_reader import StoreReader
from jury_judge.serving.submissions import MakeJury, Submissions, SubmissionStates
from jury_store.event_store import EventStore
from jury_store.sqlite import LockHolder, read_lock_holder

RecordReview = Callable[[str, NewReview], Awaitable[Review]]
"""Records what a person says of a debate; raises as `record_review`."""

MOST_WAITING = 4
"""Reviews of one person that may wait at once."""

_LOOK_EVERY = 0.5
"""Seconds between two looks whether a client is still there."""


class Reviewing:
    """Records reviews for clients that wait; shared by all requests of a server.

    A review that waits for another process holds no thread, those of one person leave the others' alone, and one whose
    client left is withdrawn.

    Args:
        blind: the jury's words are shown only after the reviewer's own verdict.
        close: ends what `record` uses.
    """

    def __init__(self, record: RecordReview, *, blind: bool = True, close: Callable[[], None] = lambda: None) -> None:
        self.blind = blind
        self._record = record
        self._close = close
        self._waiting: Counter[str] = Counter()

    @classmethod
    def over(cls, url: str, *, blind: bool, wait: float = REVIEW_WAIT) -> "Reviewing":
        """Over a store, which one thread of its own opens and reads, for a moment each time.

        Args:
            wait: seconds to wait for another process that writes to a SQLite store.
        """
        thread = ThreadPoolExecutor(1, "reviews")

        async def blocking(work: Callable[..., Any], /, *args: Any) -> Any:
            return await asyncio.get_running_loop().run_in_executor(thread, partial(work, *args))

        recorder = ReviewRecorder(url, wait=wait, blocking=blocking)
        return cls(recorder.record, blind=blind, close=partial(thread.shutdown, cancel_futures=True))

    def waiting(self, reviewer: str) -> int:
        """How many reviews of a person wait now."""
        return self._waiting[reviewer]

    async def record(self, debate_id: str, new: NewReview, has_left: Callable[[], Awaitable[bool]]) -> Review:
        """Record a review for a client.

        Args:
            has_left: whether the client has disconnected.
        """
        if self._waiting[new.reviewer] >= MOST_WAITING:
            raise TooManyReviews(
                f"{MOST_WAITING} reviews of {new.reviewer} wait for another process to write to the store; send this "
                "one again when they are recorded"
            )
        self._waiting[new.reviewer] += 1
        recording = asyncio.ensure_future(self._record(debate_id, new))
        try:
            while not (await asyncio.wait([recording], timeout=_LOOK_EVERY))[0]:
                if await has_left():
                    raise ReviewerLeft(f"debate {debate_id}: {new.reviewer} left before the review was recorded")
            return await recording
        finally:
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)
            self._waiting[new.reviewer] -= 1
            if not self._waiting[new.reviewer]:
                del self._waiting[new.reviewer]

    async def close(self) -> None:
        """End its thread, after what that is doing."""
        await asyncio.to_thread(self._close)


MAX_RUNNING = 500
"""Evaluations and runs that a server executes at once; the others wait in the store."""

ALIVE_EVERY = 15.0
"""Seconds without an event after which a live reader gets a keep-alive comment."""


class Service:
    """Shared by all requests of a server, in one event loop.

    Args:
        panels: makes the Jury of each panel; None: the server is read-only.
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
