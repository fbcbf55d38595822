"""The clerk, which alone writes the log, and the client that batches appends to it."""

import asyncio
import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple, ParamSpec, Protocol, TypeVar

from jury_actors.load import CalledModel, LoggedCalls, logged_calls
from jury_actors.mailbox import batch_length, window_end
from jury_actors.observation.observer import UNOBSERVED, Observer
from jury_actors.observation.tallies import QUEUE_LENGTH
from jury_actors.store_retry import StoreRetry
from jury_events.debate_history import DebateHistory
from jury_events.ids import calls_stream, debate_stream
from jury_store.errors import StoreError
from jury_store.event_store import Append, Appended, AppendResults, EventStore
from jury_store.group_commit import GroupCommitter
from jury_store.seals.seal import Seal

_P = ParamSpec("_P")
_T = TypeVar("_T")

MOST_WAITING = 64 * 1024 * 1024
"""Bytes of finished calls that one process keeps while they cannot be stored; beyond, it makes no new call."""


class ClerkInterface(Protocol):
    """What a clerk does for other actors and the driver, here or in another process."""

    async def record(self, batch: Sequence[Append], *, atomic: bool = False) -> AppendResults:
        """Store a batch; durable when it returns. A repeated batch does no harm.

        `atomic`: all of it is stored in one transaction, or nothing where one is refused.
        """
        ...

    async def next_epoch(self) -> int:
        """A writer number higher than all before."""
        ...

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, DebateHistory]:
        """The recorded debates, of those that exist."""
        ...

    async def recorded(self, debate_id: str) -> frozenset[str]:
        """The ids of the debate's recorded exchanges."""
        ...

    async def logged(self, called: CalledModel, since: int, until: int | None) -> LoggedCalls:
        """See `logged_calls`."""
        ...

    async def store_seal(self, seal: Seal) -> bool:
        """Store a seal; False where there is one over as many events already."""
        ...

    async def store_run_lease(self, run_id: str, calls: int, cost: float) -> None:
        """Store what a run may have taken at most; durable when it returns. A repetition does no harm."""
        ...


class Clerk:
    """Writes in one thread with group commit; reads beside it.

    Args:
        retry: for a store that fails for a while; None: no retries.
    """

    def __init__(self, store: EventStore, retry: StoreRetry | None = None, *, observer: Observer = UNOBSERVED) -> None:
        self._store = store
        self._committer = GroupCommitter(store, on_commit=observer.committed)
        self._retry = retry or StoreRetry(0.0)

    async def record(self, batch: Sequence[Append], *, atomic: bool = False) -> AppendResults:
        """See `ClerkInterface`; raises `StoreFailed` when the database failed for longer than is retried.

        Then nothing of the batch is stored, unless the connection was lost during the commit. A batch that is sent
        again may be stored already: events with the same bytes are those of the first attempt, and no repeat.
        """
        answers, again = await self._retry.run(
            lambda: asyncio.wrap_future(self._committer.submit(batch, atomic=atomic))
        )
        if again and not atomic:
            answers, _ = await self._read(self._confirmed, batch, answers)
        return answers

    def _confirmed(self, batch: Sequence[Append], answers: AppendResults) -> AppendResults:
        """The commit in doubt was made where the log has the bytes, salts and times of the batch."""
        return [
            answer._replace(repeated=0)
            if isinstance(answer, Appended) and answer.repeated and self._is_stored(append)
            else answer
            for append, answer in zip(batch, answers, strict=True)
        ]

    def _is_stored(self, append: Append) -> bool:
        there = {event.event_id: event for event in self._store.read_stream(append.stream)}
        return all(
            (stored := there.get(event.event_id)) is not None
            and (stored.body, stored.recorded_at) == (event.body, event.recorded_at)
            for event in append.events
        )

    async def next_epoch(self) -> int:
        """See `ClerkInterface`."""
        return await asyncio.to_thread(self._store.next_epoch)

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, DebateHistory]:
        """See `ClerkInterface`."""
        known, _ = await self._read(self._recall, debate_ids)
        return known

    async def recorded(self, debate_id: str) -> frozenset[str]:
        """See `ClerkInterface`."""
        stream = calls_stream(debate_id)
        events, _ = await self._read(self._store.read_stream, stream)
        return frozenset(event.event_id for event in events)

    async def logged(self, called: CalledModel, since: int, until: int | None) -> LoggedCalls:
        """See `ClerkInterface`."""
        found, _ = await self._read(logged_calls, self._store, called, since, until)
        return found

    async def store_seal(self, seal: Seal) -> bool:
        """See `ClerkInterface`."""
        return await asyncio.to_thread(self._store.store_seal, seal)

    async def store_run_lease(self, run_id: str, calls: int, cost: float) -> None:
        """See `ClerkInterface`."""
        await self._retry.run(lambda: asyncio.to_thread(self._store.store_run_lease, run_id, calls, cost))

    async def _read(self, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> tuple[_T, bool]:
        return await self._retry.run(lambda: asyncio.to_thread(read, *args, **kwargs), reads=True)

    def _recall(self, debate_ids: Sequence[str]) -> dict[str, DebateHistory]:
        known = self._store.heads([debate_stream(debate) for debate in debate_ids])
        found = [debate for debate in debate_ids if debate_stream(debate) in known]
        if not found:
            return {}
        return {history.debate_id: history for history in self._store.histories(found)}

    def close(self) -> None:
        """Store what waits, then close the store."""
        self._committer.close()
        self._store.close()


class ClerkClient:
    """Sends the appends of many tasks in few batches: those that wait while a batch is being stored form the next.

    Args:
        in_flight: batches in flight at once.
        most: bytes that may wait before `room` blocks.
        observer: may read how much waits.
    """

    def __init__(
        self,
        clerk: ClerkInterface,
        *,
        in_flight: int = 2,
        most: int = MOST_WAITING,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self._clerk = clerk
        self._waiting: list[_WaitingAppend] = []
        self._delayed: list[_WaitingAppend] = []
        self._release_at = math.inf
        self._timer: asyncio.Handle | None = None
        self._bytes = 0
        observer.gauge(QUEUE_LENGTH, lambda: [(("appends",), len(self._waiting)), (("appends_bytes",), self._bytes)])
        self._room = asyncio.Event()
        self._room.set()
        self._most = most
        self._slots = in_flight
        self._sending = 0
        self._senders: set[asyncio.Task[None]] = set()

    async def append(self, append: Append, *, window: float = 0.0) -> Appended:
        """Append to the log; returns when it is durable.

        Args:
            window: seconds; its end is awaited before it is sent, unless another append is sent before (see
                `batch_window`).
        """
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        size = append.size
        self._delayed.append(_WaitingAppend(append, size, future))
        self._count(size)
        if window:
            self._delay(window)
        else:
            self._release()
        return await future

    def _delay(self, window: float) -> None:
        loop = asyncio.get_running_loop()
        end = window_end(window, loop.time())
        if end < self._release_at:
            if self._timer is not None:
                self._timer.cancel()
            self._release_at = end
            # Not asked when it is due: for one that is due already, uvloop returns a handle that does not say.
            self._timer = loop.call_at(end, self._release)

    def _release(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._release_at = math.inf
        self._waiting += self._delayed
        self._delayed = []
        if self._waiting and self._sending < self._slots:
            self._sending += 1
            sender = asyncio.create_task(self._send())
            self._senders.add(sender)
            sender.add_done_callback(self._senders.discard)

    async def room(self) -> None:
        """Wait until less than the bound waits to be stored; called before every model call and every opening."""
        while not self._room.is_set():  # of many that wait, those before this one may have taken the room
            await self._room.wait()

    def _count(self, size: int) -> None:
        before, self._bytes = self._bytes, self._bytes + size
        if self._bytes > self._most:
            self._room.clear()
        elif before > self._most:
            self._room.set()

    @property
    def waiting(self) -> int:
        """Appends that wait to be sent to the clerk."""
        return len(self._waiting)

    async def drain(self) -> None:
        """Wait until every append is stored or refused; none is delayed any longer."""
        self._release()
        await asyncio.gather(*self._senders)

    async def _send(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every task that is ready add its own
            while self._waiting:
                count = batch_length(map(_SIZE, self._waiting))
                appends, sizes, futures = zip(*self._waiting[:count], strict=True)
                del self._waiting[:count]
                try:
                    try:
                        results = await self._clerk.record(appends)
                    finally:
                        self._count(-sum(sizes))
                except Exception as error:  # noqa: BLE001  (every waiting task gets it)
                    for future in futures:
                        if not future.done():
                            future.set_exception(error)
                    continue
                for future, result in zip(futures, results, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, StoreError):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            # Here and not when the task is seen to be done: what is appended in between would find no sender.
            self._sending -= 1


class _WaitingAppend(NamedTuple):
    append: Append
    size: int
    future: asyncio.Future[Appended]


_SIZE = attrgetter("size")
