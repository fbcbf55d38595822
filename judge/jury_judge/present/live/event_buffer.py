"""What one debate tells in one form: made once for all its readers, each of whom is but a place in it."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, JudgmentRendered
from jury_judge.present.debate_record import Texts
from jury_judge.present.live.encodings import Encoding
from jury_judge.present.live.points import Point, chunk_point, pieces

T = TypeVar("T")


class DecodedEvent(NamedTuple):
    """An event of the log, decoded, with the texts that are told of it."""

    position: int
    version: int
    event: DebateEvent
    texts: Texts


class EventBuffer(Generic[T]):
    """Filled by the feed, read by `Cursor`. `version` is that of the last event of `debate/{id}` that it holds."""

    def __init__(self, debate_id: str, form: Encoding[T]) -> None:
        self.debate_id = debate_id
        self.form = form
        self.readers = 0
        self.loaded = False
        self.over = False
        self.version = 0
        self.problem: Exception | None = None
        self.ended = False
        self._position = 0
        self._judged = False
        self._fold = form.fold()
        self._points: list[Point] = []
        self._items: list[T] = []
        self._news = asyncio.Event()

    def take(self, happened: Sequence[DecodedEvent], chunks: str, numbers: "count[int]", calls: int = 0) -> None:
        """Add what happened after `version`, and what a final judge wrote meanwhile: it stands before its judgment.

        `calls` were recorded meanwhile; like what is written, they have places of this process alone.
        """
        for one in happened:
            if isinstance(one.event, JudgmentRendered):
                self._write(chunks, numbers)
                chunks, self._judged = "", True
            told = self._fold.tell(one.event, one.texts)
            for point, each in zip(pieces(one.position, len(told)), told, strict=True):
                self._add(point, each)
            self.version, self._position = one.version, one.position
            self.over = self.over or isinstance(one.event, DebateCompleted | DebateFailed | DebateCancelled)
        if not self._judged:
            self._write(chunks, numbers)
        for told in (told for _ in range(calls) for told in self._fold.call()):
            self._add(chunk_point(self._position, next(numbers)), told)
        self.loaded = True
        self.wake()

    def forget(self) -> None:
        """Texts were erased: what was made of them goes, and is made anew from the log."""
        self.loaded = self.over = self._judged = False
        self.version = self._position = 0
        self._fold = self.form.fold()
        self._points, self._items = [], []

    def fail(self, problem: Exception) -> None:
        """It cannot go on; every reader is told."""
        self.problem = problem
        self.wake()

    def end(self) -> None:
        """Nothing more is told here, though the debate may go on; every reader's next is its last."""
        self.ended = True
        self.wake()

    def wake(self) -> None:
        """Let every reader look."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def news(self) -> None:
        """Returns when there may be something new."""
        await self._news.wait()

    def beyond(self, point: Point) -> tuple[Point, list[T]]:
        """What is told after a place, and the place of the last of it."""
        start = bisect_right(self._points, point)
        return (self._points[-1], self._items[start:]) if start < len(self._points) else (point, [])

    def _write(self, chunks: str, numbers: "count[int]") -> None:
        for told in self._fold.chunk(chunks) if chunks else ():
            self._add(chunk_point(self._position, next(numbers)), told)

    def _add(self, point: Point, told: object) -> None:
        self._points.append(point)
        self._items.append(self.form.write(point, told))


class Cursor(Generic[T]):
    """A place in a channel. One that does not read costs nothing and keeps nobody waiting."""

    def __init__(self, channel: EventBuffer[T], after: Point) -> None:
        self._channel = channel
        self._at = after

    @property
    def over(self) -> bool:
        """The debate is over, and everything that it told was read."""
        return self._channel.loaded and self._channel.over and not self._channel.beyond(self._at)[1]

    async def so_far(self) -> list[T]:
        """What the log holds beyond this place, without waiting for more.

        Raises:
            EventError: the debate's record cannot be read.
        """
        while not (self._channel.loaded or self._channel.ended):
            self._check()
            await self._channel.news()
        return self._take()

    async def next(self) -> list[T]:
        """What comes next, one thing at least; nothing when the debate is over, or the feed ends.

        Raises:
            EventError: the debate's record cannot be read.
        """
        while True:
            if self._channel.loaded and ((items := self._take()) or self._channel.over):
                return items
            if self._channel.ended:
                return []
            self._check()
            await self._channel.news()

    async def __aiter__(self) -> AsyncIterator[T]:
        """One thing after another, to the end of the debate."""
        while items := await self.next():
            for item in items:
                yield item

    def _take(self) -> list[T]:
        self._at, items = self._channel.beyond(self._at)
        return items

    def _check(self) -> None:
        if self._channel.problem is not None:
            raise self._channel.problem
