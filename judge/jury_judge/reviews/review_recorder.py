"""Records reviews in a store to which another process may be writing.

PostgreSQL has any number of writers. A SQLite store has one: this process for the moment of a review, else the one that
writes is asked to append it (`jury_store.append_requests`). What is acknowledged is in the log.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple

from jury_events.review_events import ReviewSample
from jury_events.review_facts import AssignedReview, Review
from jury_judge.reviews.review_changes import (
    Clock,
    Decided,
    NewLabel,
    NewReview,
    ReviewChange,
    all_stored,
    assignment_change,
    decide_changes,
    label_change,
    microseconds_now,
    record_changes,
    recorded_assignment,
    recorded_review,
    to_append,
    verdict_change,
    withdrawal_change,
)
from jury_judge.store_access.stores import Say, open_writer
from jury_store.append_requests import MOST_APPENDS, AppendRequest
from jury_store.errors import StoreFailed, StoreLocked
from jury_store.event_store import Append, AppendResults, EventStore
from jury_store.opening import database_path, open_store, parse_store_url

REVIEW_WAIT = 10.0
"""Seconds to wait for another process that writes to a SQLite store."""

_LOOK_EVERY = 0.05
_TURN = 1.0
"""Seconds for which a request waits before the lock is tried again: the process that has it may have ended."""

_ANSWERED_WITHIN = 10.0
"""Seconds for the answer to a request that was taken."""


Blocking = Callable[..., Awaitable[Any]]
"""Does work that blocks, for a caller with an event loop: as `asyncio.to_thread`."""


class _Sent(NamedTuple):
    """`request` asks for what is not recorded already of `decided`; None: all of it is."""

    decided: list[Decided]
    request: AppendRequest | None


class ReviewRecorder:
    """Holds nothing of the store between two reviews, so that a reviewer who thinks for an hour blocks no run.

    A caller that is cancelled withdraws what the writing process has not taken yet.

    Args:
        wait: seconds to wait for another process that writes to a SQLite store.
        clock: microseconds since 1970-01-01 UTC.
        blocking: does what blocks, each time for a moment; waiting holds no thread.
    """

    def __init__(
        self,
        url: str,
        *,
        wait: float = REVIEW_WAIT,
        clock: Clock = microseconds_now,
        blocking: Blocking = asyncio.to_thread,
        say: Say = lambda _line: None,
    ) -> None:
        self._url = url
        self._wait = wait
        self._clock = clock
        self._blocking = blocking
        self._say = say

    async def record(self, debate_id: str, new: NewReview) -> Review:
        """See `record_review`; also raises `StoreLocked` where another process writes and takes no requests."""
        (found,) = await self._record([verdict_change(debate_id, new)])
        return recorded_review(found)

    async def assign(self, debate_id: str, reviewer: str, *, by: str) -> AssignedReview:
        """See `assign_review`; also raises `StoreLocked`."""
        (found,) = await self._record([assignment_change(debate_id, reviewer, by=by, sample=None)])
        return recorded_assignment(found)

    async def assign_all(self, debate_ids: Sequence[str], reviewer: str, *, by: str, sample: ReviewSample) -> None:
        """The same for the debates of a sample."""
        for start in range(0, len(debate_ids), MOST_APPENDS):
            ids = debate_ids[start : start + MOST_APPENDS]
            await self._record([assignment_change(one, reviewer, by=by, sample=sample) for one in ids])

    async def label_all(self, labels: Mapping[str, NewLabel], *, by: str) -> None:
        """Record another label of the cases of these debates, where it is another."""
        ids = list(labels)
        for start in range(0, len(ids), MOST_APPENDS):
            await self._record([label_change(one, labels[one], by=by) for one in ids[start : start + MOST_APPENDS]])

    async def withdraw(self, debate_id: str, number: int, *, by: str, reason: str = "") -> None:
        """See `withdraw_review`; also raises `StoreLocked`."""
        await self._record([withdrawal_change(debate_id, number, by=by, reason=reason)])

    async def _record(self, changes: Sequence[ReviewChange]) -> list[Decided]:
        until = time.monotonic() + self._wait
        said = False
        while True:
            try:
                found: list[Decided] = await self._blocking(self._record_here, changes)
            except StoreLocked as error:
                locked = error
            else:
                return found
            left = until - time.monotonic()
            if left <= 0:
                raise StoreLocked(f"{locked}. It took no request to record this either, in {self._wait:g} s")
            if not said:
                said = True
                self._say(f"another process is writing to the store; it is asked to record this, for {self._wait:g} s")
            asked = await self._ask(changes, min(left, _TURN))
            if asked is not None:
                return asked

    def _record_here(self, changes: Sequence[ReviewChange]) -> list[Decided]:
        with closing(open_writer(self._url, run="review", wait=0.0)) as store:
            return record_changes(store, changes, self._clock)

    async def _ask(self, changes: Sequence[ReviewChange], seconds: float) -> list[Decided] | None:
        """Ask the process that writes; None: it did not take the request, or another reviewer was faster."""
        sending = asyncio.ensure_future(self._blocking(self._send, changes))
        try:
            sent: _Sent = await asyncio.shield(sending)
        except asyncio.CancelledError:
            sending.add_done_callback(_release_sent)
            raise
        request = sent.request
        if request is None:
            return sent.decided
        try:
            results = await answered(request, seconds)
            if results is None:
                if request.withdraw():
                    return None
                results = await answered(request, _ANSWERED_WITHIN)
        finally:
            request.release()
        if results is None:
            return await self._unanswered(sent.decided)
        return sent.decided if all_stored(results) else None

    def _send(self, changes: Sequence[ReviewChange]) -> _Sent:
        with self._reading() as store:
            decided = decide_changes(store, changes, self._clock)
        appends = to_append(decided)
        database = database_path(parse_store_url(self._url))
        return _Sent(decided, AppendRequest.send(database, appends) if appends else None)

    async def _unanswered(self, decided: list[Decided]) -> list[Decided]:
        """The log says whether a request was done whose taker ended, or hangs."""
        if await self._blocking(self._is_stored, to_append(decided)):
            return decided
        raise StoreFailed(
            "the process that writes to the store took this and has not answered; look whether it is recorded, with "
            "jury show, before you try again"
        )

    def _is_stored(self, appends: Sequence[Append]) -> bool:
        with self._reading() as store:
            there = store.read_streams([one.stream for one in appends])
        stored = {(one.stream, one.body, one.recorded_at) for events in there.values() for one in events}
        return all((one.stream, event.body, event.recorded_at) in stored for one in appends for event in one.events)

    @contextmanager
    def _reading(self) -> Iterator[EventStore]:
        with closing(open_store(self._url, write=False)) as store:
            yield store


def _release_sent(sending: "asyncio.Future[_Sent]") -> None:
    """Withdraw a request whose caller did not wait for it to be sent."""
    if not sending.cancelled() and sending.exception() is None and (request := sending.result().request) is not None:
        request.release()


async def answered(request: AppendRequest, seconds: float) -> AppendResults | None:
    """The results of a request, as soon as they are there; None: not in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (results := request.answer()) is None:  # noqa: ASYNC110  (another process sets no event)
                await asyncio.sleep(_LOOK_EVERY)
            return results
    return None
