"""Group commit: appends of many callers wait in a queue and are stored in one transaction.

A commit costs one disk flush whatever its size, and as much CPU as a dozen events.
"""

import logging
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from jury_events.ids import debate_stream, stream_debate
from jury_store.appends import first_refusal
from jury_store.errors import StoreClosed
from jury_store.event_store import Append, AppendResults, EventStore

SHARE = 1 / 32
"""Of the time since the last commit of a stream, for which its next append may wait."""

MOST_SECONDS = 0.05
"""For which an append waits at most."""

ENOUGH = 32
"""Requests that wait for no more: a further one makes each of them hardly cheaper."""

MOST_STREAMS = 4_000
"""Streams whose last commit is remembered; the longest unchanged leave first."""


class WaitingCommit(NamedTuple):
    """Requests of one submission, with their size in bytes; `answer` gets their results, or an error.

    `atomic`: all of them are stored, or none; they are alone in their transaction.
    """

    requests: Sequence[Append]
    size: int
    answer: "Future[AppendResults]"
    atomic: bool = False


@dataclass
class CommitQueue:
    """Submissions in their order, and the moment at which they leave.

    The rule: **an append waits for company at most a 32nd of the time since the last commit of its stream, and at most
    50 ms**. So a commit whose debates wait seconds for their models is shared by all that arrive within that time, and
    a debate is slowed by a 32nd at most, in each of its streams. Who appends one event after the other, as an
    import or a debate at zero latency does, waits a 32nd of its own pause, which is nothing. The first append of a
    debate, which opens it, does not wait; the first one of its calls counts from the last commit of the debate. Where
    one that need not wait arrives, or 32 requests wait, all leave: a writer that has enough to do never waits.

    Several requests of one submission wait as long as the most impatient of them whose stream is known. An atomic one
    leaves alone.

    Attributes:
        max_group: the most requests that leave together (a larger submission leaves alone).
        bytes: of all submissions that wait.
        leaves_at: the moment at which the next group leaves; long past where enough wait. Nothing waits: never.
    """

    max_group: int
    bytes: int = 0
    leaves_at: float = math.inf
    _waiting: deque[WaitingCommit] = field(default_factory=deque)
    _requests: int = 0
    _stored: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def put(self, one: WaitingCommit, now: float) -> None:
        """Add a submission; `now` in seconds, as everywhere here."""
        latest: float | None = None
        for request in one.requests:
            last = self._stored.get(request.stream)
            if last is None:
                last = self._stored.get(debate_stream(stream_debate(request.stream)))
            if last is not None and (latest is None or last > latest):
                latest = last
        patience = 0.0 if latest is None else min(SHARE * (now - latest), MOST_SECONDS)
        self._waiting.append(one)
        self._requests += len(one.requests)
        self.bytes += one.size
        self.leaves_at = 0.0 if self._requests >= ENOUGH else min(self.leaves_at, now + patience)

    def take(self) -> list[WaitingCommit]:
        """The next group, which fits into a transaction; what is left then leaves at once."""
        group: list[WaitingCommit] = []
        count = 0
        while self._waiting:
            one = self._waiting[0]
            if group and (one.atomic or group[0].atomic or count + len(one.requests) > self.max_group):
                break
            group.append(self._waiting.popleft())
            count += len(one.requests)
            self.bytes -= one.size
        self._requests -= count
        if not self._waiting:
            self.leaves_at = math.inf
        return group

    def stored(self, group: Sequence[WaitingCommit], now: float) -> None:
        """Note that a group was committed."""
        for one in group:
            for request in one.requests:
                self._stored[request.stream] = now
                self._stored.move_to_end(request.stream)
        while len(self._stored) > MOST_STREAMS:
            self._stored.popitem(last=False)


_log = logging.getLogger(__name__)

PROJECT_EVERY_SECONDS = 1.0
"""Readers add the events since then: the lists are up to date in any case."""

_PROJECT_BATCH = 2000
_PROJECT_SECONDS = 0.1
INDEX_EVERY_SECONDS = 1.0
_INDEX_BATCH = 1000
_INDEX_PAUSE = 4.0
"""Pause between batches, as a multiple of a batch's duration, so that appends get most of the thread's time."""

_INDEX_AT_END_SECONDS = 3.0
"""The rest is left to the next writer, or to `jury db rebuild`."""
_OVERHEAD_BYTES = 500

_LISTS = "the lists of debates and runs were not updated"
_TEXTS = "the search index was not updated"


class GroupCommitter:
    """A writer thread for `store`; does not close the store.

    Futures are resolved in that thread: their callbacks must not block, and must not submit.

    Args:
        max_group: the most requests a transaction (a larger batch is stored alone).
        max_waiting_bytes: the most that may wait; `submit` blocks beyond it.
        on_commit: called in the writer thread with the number of events of a commit and its seconds.
    """

    def __init__(
        self,
        store: EventStore,
        max_group: int = 256,
        max_waiting_bytes: int = 64 * 1024 * 1024,
        *,
        on_commit: Callable[[int, float], None] = lambda _events, _seconds: None,
    ) -> None:
        self._store = store
        self._on_commit = on_commit
        self._max_bytes = max_waiting_bytes
        self._queue = CommitQueue(max_group)
        self._changed = threading.Condition()
        self._closing = False
        # Failures that were logged as warnings: once each, as an unreachable database fails at every attempt.
        self._failing: set[str] = set()
        # When to update the lists; at first for events of an earlier process, while this one begins with its work.
        self._due: float | None = time.monotonic() + PROJECT_EVERY_SECONDS
        # When to update the search index; that costs more, and is done while no append waits.
        self._index_due: float | None = time.monotonic() + INDEX_EVERY_SECONDS
        self._thread = threading.Thread(target=self._work, name="jury-group-commit", daemon=True)
        self._thread.start()

    def submit(self, requests: Sequence[Append], *, atomic: bool = False) -> "Future[AppendResults]":
        """Append several requests in one transaction; the results contain refusals, in order.

        The future has an error where the database failed. Blocks while more than `max_waiting_bytes` wait.

        `atomic`: all are stored, or none, as of `EventStore.append`.
        """
        size = 0
        for request in requests:
            size += request.size + _OVERHEAD_BYTES * (1 + len(request.events))
        waiting = WaitingCommit(requests, size, Future(), atomic)
        with self._changed:
            # A request larger than the bound is accepted when no other waits.
            while not self._closing and self._queue.bytes and self._queue.bytes + size > self._max_bytes:
                self._changed.wait()
            if self._closing:
                raise StoreClosed("the writer of this store was closed; nothing of this append was stored")
            before = self._queue.leaves_at
            self._queue.put(waiting, time.monotonic())
            # Else the writer wakes up in time for this one too.
            if self._queue.leaves_at < before:
                self._changed.notify_all()
        return waiting.answer

    def close(self) -> None:
        """Store waiting appends, update the lists, end the thread; twice is allowed."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                while (pause := self._pause()) is None or pause > 0:
                    self._changed.wait(pause)
                group = self._queue.take()
                if group:
                    self._changed.notify_all()
                closing = self._closing
            if group:
                self._commit(group)
                now = time.monotonic()
                self._due = now + PROJECT_EVERY_SECONDS if self._due is None else self._due
                self._index_due = now + INDEX_EVERY_SECONDS if self._index_due is None else self._index_due
            if self._due is not None and ((closing and not group) or time.monotonic() >= self._due):
                self._project()
            if closing and not group and self._due is None:
                self._index_at_end()
                return
            if not group and self._index_due is not None and time.monotonic() >= self._index_due:
                self._index()

    def _pause(self) -> float | None:
        """Seconds until there is something to do; None: nothing is known of."""
        if self._closing:
            return 0.0
        if self._queue.leaves_at < math.inf:
            return self._queue.leaves_at - time.monotonic()
        due = min(filter(None, (self._due, self._index_due)), default=None)
        return None if due is None else due - time.monotonic()

    def _commit(self, group: list[WaitingCommit]) -> None:
        requests = [request for one in group for request in one.requests]
        atomic = group[0].atomic
        began = time.perf_counter()
        try:
            results = self._store.append(requests, atomic=True) if atomic else self._store.append(requests)
        except Exception as error:  # noqa: BLE001  (the waiting writers get it; the thread must survive)
            for one in group:
                _settle(one.answer, error)
            return
        with self._changed:
            self._queue.stored(group, time.monotonic())
        if not atomic or first_refusal(results) is None:
            self._on_commit(sum([len(request.events) for request in requests]), time.perf_counter() - began)
        start = 0
        for one in group:
            _settle(one.answer, results[start : start + len(one.requests)])
            start += len(one.requests)

    def _project(self) -> None:
        """Update the lists, for a bounded time: they can be rebuilt, so no append fails with them or waits for long."""
        until = time.monotonic() + _PROJECT_SECONDS
        behind = True
        while behind and time.monotonic() < until:
            behind = self._run_batch(self._store.project, _PROJECT_BATCH, _LISTS)
        self._due = time.monotonic() if behind else None

    def _index(self) -> None:
        begun = time.monotonic()
        behind = self._run_batch(self._store.index_texts, _INDEX_BATCH, _TEXTS)
        now = time.monotonic()
        self._index_due = now + _INDEX_PAUSE * (now - begun) if behind else None

    def _run_batch(self, update: Callable[[int], int], batch: int, failure: str) -> bool:
        try:
            behind = update(batch) >= batch
        except Exception as error:  # noqa: BLE001  (tried again after the next append)
            _log.log(logging.INFO if failure in self._failing else logging.WARNING, "%s: %s", failure, error)
            self._failing.add(failure)
            return False
        self._failing.discard(failure)
        return behind

    def _index_at_end(self) -> None:
        until = time.monotonic() + _INDEX_AT_END_SECONDS
        while self._index_due is not None and time.monotonic() < until:
            self._index()


def _settle(answer: "Future[AppendResults]", results: AppendResults | Exception) -> None:
    """A cancelled future gets no result; its append is stored all the same."""
    if not answer.set_running_or_notify_cancel():
        return
    if isinstance(results, Exception):
        answer.set_exception(results)
    else:
        answer.set_result(results)
