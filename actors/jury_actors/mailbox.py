"""Messages between actors, delivered in bounded batches.

One long poll stays open and returns whatever is there: natural batching, no head-of-line blocking, and the death of the
service surfaces through it.

A message, a commit and a wake-up cost more than an answer's own work, and a model answers in seconds. So an answer
waits at one place, where it arrives; what follows from it (the append, the result, the next events and requests) goes
on at once, and finds those of the other answers of its window. Windows end at multiples of their length on the clock
that all processes of a machine share, so that several jurors pass their answers on at the same moment.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from jury_actors.effects import Backoff

_SHARE = 1 / 8
_COMPANY = 16
_LONGEST = 1 / 4
_SHORTEST = 1 / 512


def batch_window(seconds: float, working: int) -> float:
    """The length in seconds of the windows of an answer; 0: it waits for nothing.

    At most an eighth of what the call took (so a sixteenth of it is waited on average), at most 0.25 s, and no longer
    than 16 answers take to arrive. A power of two: every long window ends where a short one does.

    Args:
        working: calls in progress beside it; with many, company arrives soon.
    """
    most = min(seconds * min(_SHARE, _COMPANY / max(1, working)), _LONGEST)
    return 0.0 if most < _SHORTEST else 2.0 ** math.floor(math.log2(most))


def window_end(window: float, now: float) -> float:
    """The moment at which the window ends that `now` is in."""
    return (math.floor(now / window) + 1) * window


_ITEMS = 500
_BYTES = 1024 * 1024


def batch_length(sizes: Iterable[int]) -> int:
    """How many items the next batch has: at most 500, and none after the one with which it exceeds 1 MiB.

    Args:
        sizes: bytes of the waiting items, in their order.
    """
    size = length = 0
    for one in islice(sizes, _ITEMS):
        size += one
        length += 1
        if size > _BYTES:
            break
    return length


M = TypeVar("M")
T = TypeVar("T")

PROBE = "?"
"""The incarnation to poll with for an immediate answer that names the present one."""

AWAY = Backoff(base=0.1, cap=5.0)
"""Seconds between probes for a successor."""


class Delivery(NamedTuple, Generic[T]):
    """Items of an outbox up to number `upto` of its `incarnation`."""

    incarnation: str
    upto: int
    items: list[T]


class IncarnationLost(Exception):
    """The process of a service died; its successor knows nothing of what was submitted."""


class Outbox(Generic[T]):
    """Numbered items; `poll` acknowledges up to a number and waits for more.

    Args:
        incarnation: of the service; a number acknowledged to an earlier incarnation drops nothing.
        linger: seconds to wait for more items once there is one.
    """

    def __init__(self, incarnation: str, *, linger: float = 0.0, batch: int = 512) -> None:
        self._incarnation = incarnation
        self._linger = linger
        self._batch = batch
        self._items: deque[tuple[int, T]] = deque()
        self._last = 0
        self._filled = asyncio.Event()
        self._closed = False

    def put(self, item: T) -> None:
        """Add an item."""
        self._last += 1
        self._items.append((self._last, item))
        self._filled.set()

    async def poll(self, incarnation: str, ack: int) -> Delivery[T]:
        """The items after `ack`; waits until there is one, or the outbox is closed.

        A poll with another incarnation (not "") returns at once, without items: the client learns that the service
        was replaced, even where no call failed.
        """
        if incarnation == self._incarnation:
            while self._items and self._items[0][0] <= ack:
                self._items.popleft()
        elif incarnation:
            return Delivery(self._incarnation, 0, [])
        while not self._items:
            if self._closed:
                return Delivery(self._incarnation, ack, [])
            self._filled.clear()
            await self._filled.wait()
            if self._linger:
                await asyncio.sleep(self._linger)
        taken = [self._items[index] for index in range(min(len(self._items), self._batch))]
        return Delivery(self._incarnation, taken[-1][0], [item for _, item in taken])

    def close(self) -> None:
        """End the polls that wait: their client has left."""
        self._closed = True
        self._filled.set()


class MailboxClient(Generic[M, T]):
    """Submits messages to a service in batches and polls its outbox, through any number of incarnations of the service.

    A loss is noticed by a call that raises `IncarnationLost` or by a delivery of another incarnation, and is reported
    once, however many calls fail. Then the successor is probed until it answers; nothing is submitted meanwhile.

    Args:
        submit: sends a batch of messages; submitting a message again must do no harm.
        poll: see `Outbox.poll`.
        on_item: called with each item; after a loss an item may arrive twice.
        on_loss: called with the messages that may not have arrived; returns what to submit to the successor.
        on_error: called once, with the first error that is not a loss; the client stops.
        on_away: called after each probe that failed.
        size: bytes of a message; a batch has about 1 MiB, at most 500 messages. None: they are small.
        linger: seconds to wait for more messages once there is one.
    """

    def __init__(
        self,
        submit: Callable[[Sequence[M]], Awaitable[None]],
        poll: Callable[[str, int], Awaitable[Delivery[T]]],
        *,
        on_item: Callable[[T], None],
        on_loss: Callable[[list[M]], Iterable[M]],
        on_error: Callable[[Exception], None],
        on_away: Callable[[], None] = lambda: None,
        size: Callable[[M], int] | None = None,
        linger: float = 0.0,
        away: Backoff = AWAY,
    ) -> None:
        self._submit = submit
        self._poll = poll
        self._on_item = on_item
        self._on_loss = on_loss
        self._on_error = on_error
        self._on_away = on_away
        self._size = size
        self._linger = linger
        self._away = away
        self._pending: list[M] = []
        self._submitting: list[M] = []
        self._filled = asyncio.Event()
        self._present = asyncio.Event()
        self._present.set()
        self._incarnation, self._ack = "", 0
        self._losses = self._failures = 0
        self.problem: Exception | None = None
        self._sender = asyncio.create_task(self._guarded(self._send))
        self._receiver = asyncio.create_task(self._guarded(self._receive))

    def send(self, *messages: M) -> None:
        """Submit messages, in this order, as soon as the service is present."""
        if messages and self.problem is None:
            self._pending += messages
            self._filled.set()

    @property
    def queued(self) -> int:
        """Messages that wait to be submitted."""
        return len(self._pending)

    def fail(self, error: Exception) -> None:
        """Stop with an error; only the first one is reported."""
        if self.problem is None:
            self.problem = error
            self._pending.clear()
            self._on_error(error)

    async def close(self) -> None:
        """Stop submitting and polling."""
        tasks = [self._sender, self._receiver]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  (the owner must know, or it waits for ever)
            self.fail(error)

    async def _send(self) -> None:
        while self.problem is None:
            await self._filled.wait()
            await self._present.wait()
            if self._linger:
                await asyncio.sleep(self._linger)
            losses = self._losses
            if not self._present.is_set():
                continue
            count = _ITEMS if self._size is None else batch_length(map(self._size, self._pending))
            batch = self._submitting = self._pending[:count]
            self._pending = self._pending[count:]
            if not self._pending:
                self._filled.clear()
            if not batch:
                continue
            try:
                await self._submit(batch)
            except IncarnationLost:
                if losses == self._losses:
                    # The open poll may wait for a long time on a connection that is gone.
                    self._receiver.cancel()
                    self._lose()
                    self._receiver = asyncio.create_task(self._guarded(self._receive))
            self._submitting = []
            del batch  # it may be long until the next one

    async def _receive(self) -> None:
        while self.problem is None:
            try:
                delivery = await self._poll(self._incarnation, self._ack)
            except IncarnationLost:
                if self._present.is_set():
                    self._lose()
                else:
                    self._failures += 1
                    self._on_away()
                    await asyncio.sleep(self._away.delay(self._failures + 1, jitter=1.0, retry_after=None))
                continue
            if self._incarnation not in ("", PROBE, delivery.incarnation):
                self._lose()
            self._incarnation, self._ack = delivery.incarnation, delivery.upto
            self._present.set()
            for item in delivery.items:
                self._failures = 0
                self._on_item(item)
                del item  # as below
            del delivery  # it may be long until the next one

    def _lose(self) -> None:
        self._losses += 1
        self._present.clear()
        self._incarnation, self._ack = PROBE, 0
        unconfirmed = self._submitting + self._pending
        self._submitting, self._pending = [], []
        self.send(*self._on_loss(unconfirmed))


class RequestRoom:
    """Room for requests, given in the order in which it was asked for; one request is always admitted.

    Args:
        most: bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[None]:
        """Have room for a request of so many bytes; waits until there is."""
        given = asyncio.get_running_loop().create_future()
        self._waiting.append((size, given))
        self._give()
        try:
            await given
            yield
        finally:
            if given.done() and not given.cancelled():
                self._used -= size
            self._give()

    def _give(self) -> None:
        while self._waiting:
            size, given = self._waiting[0]
            if not given.cancelled():
                if self._used and self._used + size > self._most:
                    return
                self._used += size
                given.set_result(None)
            self._waiting.popleft()
