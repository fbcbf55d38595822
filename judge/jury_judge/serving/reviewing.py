"""How this server lets people review."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from jury_events.review_facts import Review
from jury_judge.errors import ReviewerLeft, TooManyReviews
from jury_judge.reviews.review_changes import NewReview
from jury_judge.reviews.review_recorder import REVIEW_WAIT, ReviewRecorder

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
        record: writes a review.
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
            url: of the store.
            blind: as of the class.
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
            debate_id: of a debate that has ended.
            new: what the reviewer says.
            has_left: whether the client has disconnected.

        Raises:
            TooManyReviews: others of this person are waiting.
            ReviewerLeft: the client left before the review was recorded.
            JuryError: as `record_review`.
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
