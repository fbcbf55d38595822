"""The encoded event buffer of one debate; readers are cursors."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, JudgmentRendered
from jury_events.envelope import GENESIS
from jury_views.debate_fold import Texts
from jury_views.live.encodings import Encoding, Point, chunk_point, pieces

T = TypeVar("T")


class DecodedEvent(NamedTuple):
    """A decoded event of the log, with its hash and the texts that its encodings need."""

    position: int
    version: int
    hash: bytes
    event: DebateEvent
    texts: Texts


class EventBuffer(Generic[T]):
    """The events of a debate in one encoding, filled by the feed.

    `version` and `last` are number and hash of the last event of `debate/{id}` in it; `readers` counts its cursors.
    """

    def __init__(self, debate_id: str, encoding: Encoding[T]) -> None:
        self.debate_id = debate_id
        self.encoding = encoding
        self.readers = 0
        self.loaded = False
        self.over = False
        self.version = 0
        self.last = GENESIS
        self.problem: Exception | None = None
        self.ended = False
        self._position = 0
        self._judged = False
        self._fold = encoding.fold()
        self._points: list[Point] = []
        self._items: list[T] = []
        self._news = asyncio.Event()

    def add(self, events: Sequence[DecodedEvent], chunks: str, numbers: "count[int]", calls: int = 0) -> None:
        """Add new events.

        Args:
            events: those after `version`.
            chunks: text that a final judge wrote meanwhile; it comes before its judgment.
            numbers: number chunks and calls, whose points are known to this process alone.
            calls: how many model calls were recorded meanwhile.
        """
        for one in events:
            if isinstance(one.event, JudgmentRendered):
                self._write(chunks, numbers)
                chunks, self._judged = "", True
            items = self._fold.take(one.event, one.texts)
            for point, item in zip(pieces(one.position, len(items)), items, strict=True):
                self._append(point, item)
            self.version, self.last, self._position = one.version, one.hash, one.position
            self.over = self.over or isinstance(one.event, DebateCompleted | DebateFailed | DebateCancelled)
        if not self._judged:
            self._write(chunks, numbers)
        for item in (item for _ in range(calls) for item in self._fold.call()):
            self._append(chunk_point(self._position, next(numbers)), item)
        self.loaded = True
        self.wake()

    def clear(self) -> None:
        """Drop everything, to be loaded again from the log: texts were erased, or the store was away."""
        self.loaded = self.over = self._judged = False
        self.version = self._position = 0
        self.last = GENESIS
        self._fold = self.encoding.fold()
        self._points, self._items = [], []

    def fail(self, problem: Exception) -> None:
        """Make every cursor raise `problem`."""
        self.problem = problem
        self.wake()

    def end(self) -> None:
        """Add nothing more, though the debate may go on; every cursor ends."""
        self.ended = True
        self.wake()

    def wake(self) -> None:
        """Wake every cursor."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def news(self) -> None:
        """Wait until there may be new items."""
        await self._news.wait()

    def beyond(self, point: Point) -> tuple[Point, list[T]]:
        """The items after a point, and the point of the last one."""
        start = bisect_right(self._points, point)
        return (self._points[-1], self._items[start:]) if start < len(self._points) else (point, [])

    def _write(self, chunks: str, numbers: "count[int]") -> None:
        for item in self._fold.chunk(chunks) if chunks else ():
            self._append(chunk_point(self._position, next(numbers)), item)

    def _append(self, point: Point, item: object) -> None:
        self._points.append(point)
        self._items.append(self.encoding.write(point, item))


class Cursor(Generic[T]):
    """A reader's point in a buffer. A slow reader costs nothing and delays no other."""

    def __init__(self, buffer: EventBuffer[T], after: Point) -> None:
        self._buffer = buffer
        self._at = after

    @property
    def over(self) -> bool:
        """Whether the debate is over and all its items were read."""
        return self._buffer.loaded and self._buffer.over and not self._buffer.beyond(self._at)[1]

    async def so_far(self) -> list[T]:
        """The items so far, without waiting for more.

        Raises:
            EventError: the debate's record cannot be read.
        """
        while not (self._buffer.loaded or self._buffer.ended):
            self._check()
            await self._buffer.news()
        return self._take()

    async def next(self) -> list[T]:
        """The next items, at least one; none when the debate is over or the feed ends.

        Raises:
            EventError: the debate's record cannot be read.
        """
        while True:
            if self._buffer.loaded and ((items := self._take()) or self._buffer.over):
                return items
            if self._buffer.ended:
                return []
            self._check()
            await self._buffer.news()

    async def __aiter__(self) -> AsyncIterator[T]:
        """Every item, to the end of the debate."""
        while items := await self.next():
            for item in items:
                yield item

    def _take(self) -> list[T]:
        self._at, items = self._buffer.beyond(self._at)
        return items

    def _check(self) -> None:
        if self._buffer.problem is not None:
            raise self._buffer.problem
