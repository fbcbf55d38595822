"""The live feed: one tail of the log a process, and an event buffer for each debate that is followed.

Positions have no gaps and come in commit order, so a reader that resumes from the last one misses nothing. The log is
polled only while there are readers.
"""

import asyncio
import logging
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from jury_events.codec import DebateEvent, decode
from jury_events.conditions import Values, fields_of
from jury_events.debate_events import (
    DebateBegun,
    DebateCancelled,
    DebateCompleted,
    DebateFailed,
    DebateOpened,
    JudgmentRendered,
    JurorEvaluated,
    StatementMade,
    TextsErased,
)
from jury_events.debate_history import DebateHistory
from jury_events.envelope import GENESIS, StoredEvent, stored_hash
from jury_events.errors import EventError, Failure, JuryError
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, stream_debate
from jury_judge.errors import TooManyReaders
from jury_replay.errors import RecordDamaged
from jury_replay.intact import intact_histories
from jury_store.errors import StoreClosed, StoreError
from jury_store.event_store import EventStore
from jury_views.debate_fold import Texts
from jury_views.live_events import START, Encoding, Point, chunk_point, pieces

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
            chunks: text that a final judge wrote meanwhile; it comes before its judgment.
            numbers: number chunks and calls, whose points are known to this process alone.
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
        """The items so far, without waiting for more."""
        while not (self._buffer.loaded or self._buffer.ended):
            self._check()
            await self._buffer.news()
        return self._take()

    async def next(self) -> list[T]:
        """The next items, at least one; none when the debate is over or the feed ends."""
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


MOST_READERS = 1000
"""The default maximum of concurrent readers."""

_PAGE = 1000
_POLL_SECONDS = 0.05
"""Seconds between polls of the log."""
_RETRY_SECONDS = 1.0

_log = logging.getLogger(__name__)


class Beginning(NamedTuple):
    """A debate that began; `values` are the fields of its case, for conditions."""

    debate_id: str
    run_id: str | None
    values: Values


class Feed:
    """Follows the log in `store` for all readers in this event loop.

    Args:
        most: readers at once.
    """

    def __init__(self, store: EventStore, *, most: int = MOST_READERS) -> None:
        self._store = store
        self._most = most
        self._buffers: dict[tuple[str, str], EventBuffer[Any]] = {}
        self._chunks: defaultdict[str, list[str]] = defaultdict(list)
        self._numbers = count(1)
        self._beginnings: list[Callable[[Beginning], None]] = []
        self._moves: list[tuple[Collection[str], Callable[[], None]]] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._asking = 0
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._problem: Exception | None = None
        self.readers = 0

    @asynccontextmanager
    async def follow(self, debate_id: str, encoding: Encoding[T], after: Point = START) -> AsyncIterator[Cursor[T]]:
        """A cursor over the live events of a debate after a point; it waits for a debate that is not opened yet."""
        self._check()
        if self.readers >= self._most:
            raise TooManyReaders(f"{self.readers} readers follow debates here already; come back in a minute")
        key = (debate_id, encoding.name)
        buffer: EventBuffer[T] = self._buffers.setdefault(key, EventBuffer(debate_id, encoding))
        buffer.readers += 1
        self.readers += 1
        if self._ended:
            buffer.end()
        self._poll_now()
        try:
            yield Cursor(buffer, after)
        finally:
            self.readers -= 1
            buffer.readers -= 1
            if not buffer.readers and self._buffers.get(key) is buffer:
                del self._buffers[key]
            await self._stop_if_idle()

    @asynccontextmanager
    async def beginnings(self, on_beginning: Callable[[Beginning], None]) -> AsyncIterator[None]:
        """Call `on_beginning` for every debate that begins meanwhile; earlier ones are in the store's lists."""
        self._beginnings.append(on_beginning)
        try:
            await self.caught_up()
            yield
        finally:
            self._beginnings.remove(on_beginning)
            await self._stop_if_idle()

    @asynccontextmanager
    async def moves(self, debates: Collection[str], on_move: Callable[[], None]) -> AsyncIterator[None]:
        """Call `on_move` when one of these debates opens, is resumed, or goes on; for what was stored before, never."""
        await self.caught_up()
        watched = (debates, on_move)
        self._moves.append(watched)
        self._poll_now()
        try:
            yield
        finally:
            self._moves.remove(watched)
            await self._stop_if_idle()

    def add_chunk(self, debate_id: str, text: str) -> None:
        """A chunk of what a final judge is writing in this process: shown, never stored."""
        if any(debate == debate_id for debate, _ in self._buffers):
            self._chunks[debate_id].append(text)

    async def caught_up(self) -> None:
        """Wait until everything that was stored before the call is in the buffers."""
        self._check()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        self._asking += 1
        self._poll_now()
        try:
            await done
        finally:
            self._asking -= 1
            await self._stop_if_idle()

    def end(self) -> None:
        """End every cursor, present and future: this process is about to end."""
        self._ended = True
        for buffer in self._buffers.values():
            buffer.end()

    def fail(self, problem: Exception) -> None:
        """Make every cursor raise `problem`, present and future: the store is being closed."""
        self._problem = problem
        for buffer in self._buffers.values():
            buffer.fail(problem)
        waiting, self._waiting = self._waiting, []
        _answer(waiting, problem)

    async def close(self) -> None:
        """Stop polling the log; `end` or `fail` ends the readers that are left."""
        task, self._task = self._task, None
        # A caller that comes while the task ends waits for the next task.
        waiting, self._waiting = self._waiting, []
        _answer(waiting, _closed())
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _check(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _poll_now(self) -> None:
        self._hurry.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll())

    async def _stop_if_idle(self) -> None:
        if not (self._buffers or self._beginnings or self._moves or self._asking):
            await self.close()

    async def _poll(self) -> None:
        position: int | None = None
        while True:
            self._hurry.clear()
            waiting, self._waiting = self._waiting, []
            wait = _POLL_SECONDS
            try:
                if position is None:
                    position = await asyncio.to_thread(self._store.last_position)
                full = True
                while full:
                    position, full = await self._poll_once(position)
            except asyncio.CancelledError:
                _answer(waiting, _closed())
                raise
            except StoreError as error:
                _log.warning("the live feed cannot read the log: %s", error)
                wait = _RETRY_SECONDS
                _answer(waiting, error)
            except Exception as error:  # a defect: readers must not wait for ever
                _answer(waiting, error)
                for buffer in self._buffers.values():
                    buffer.fail(error)
                raise
            _answer(waiting)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._hurry.wait()

    async def _poll_once(self, position: int) -> tuple[int, bool]:
        """Pass on the events after `position`; returns the last position that was read, and whether there are more."""
        chunks_of, self._chunks = self._chunks, defaultdict(list)
        batch = await asyncio.to_thread(self._store.read_all, position, _PAGE)
        news: defaultdict[str, list[StoredEvent]] = defaultdict(list)
        calls: Counter[str] = Counter()
        for stored in batch:
            if stored.stream.startswith(DEBATE_PREFIX):
                news[stream_debate(stored.stream)].append(stored)
            elif stored.stream.startswith(CALLS_PREFIX):
                calls[stream_debate(stored.stream)] += 1
        if self._beginnings and (begun := [stored.stream for stored in batch if stored.type == _BEGUN]):
            self._publish_beginnings(await asyncio.to_thread(self._store.first_events, begun))
        for debates, on_move in self._moves:
            if any(debate in debates for debate in news):
                on_move()
        for buffer in list(self._buffers.values()):
            events = news.get(buffer.debate_id, [])
            chunks = "".join(chunks_of.get(buffer.debate_id, ()))
            called = calls[buffer.debate_id]
            if buffer.problem is None and (events or chunks or called or not buffer.loaded):
                await self._fill(buffer, events, chunks, called)
        return (batch[-1].position if batch else position), len(batch) == _PAGE

    async def _fill(self, buffer: EventBuffer[Any], events: Sequence[StoredEvent], chunks: str, calls: int) -> None:
        try:
            if any(event.type == _ERASED for event in events) and buffer.loaded:
                buffer.clear()
            if not buffer.loaded:
                # Read after the batch: the stream includes the batch; later events are in the next batch.
                events = await asyncio.to_thread(_recorded, self._store, buffer.debate_id)
            news = [one for one in events if one.version > buffer.version]
            decoded = await asyncio.to_thread(_decoded, self._store, buffer.debate_id, news, buffer.last)
            buffer.add(decoded, chunks, self._numbers, calls)
        except JuryError as error:
            if isinstance(error, StoreError) and error.failure is not Failure.ALTERED:
                buffer.clear()  # read whole again once the store is back
                raise
            buffer.fail(error)

    def _publish_beginnings(self, openings: Mapping[str, StoredEvent]) -> None:
        for stored in openings.values():
            try:
                opened = decode(stored)
            except EventError as error:
                _log.warning("an opening event in the log is skipped: %s", error)
                continue
            if isinstance(opened, DebateOpened):
                for on_beginning in self._beginnings:
                    on_beginning(Beginning(opened.debate_id, opened.run_id, fields_of(opened)))


_ERASED = TextsErased.model_fields["type"].default
_BEGUN = DebateBegun.model_fields["type"].default


def _closed() -> StoreError:
    return StoreClosed("the live feed was closed; read the debate with: jury show")


def _answer(waiting: list[asyncio.Future[None]], error: Exception | None = None) -> None:
    for done in waiting:
        if not done.done():
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)


def _recorded(store: EventStore, debate_id: str) -> Sequence[StoredEvent]:
    """The events of a debate so far, of one that is unaltered; raises `RecordDamaged`."""
    (history,) = intact_histories(store, [debate_id])
    return history.stored_events


def _decoded(store: EventStore, debate_id: str, events: Sequence[StoredEvent], last: bytes) -> list[DecodedEvent]:
    """The events that follow the one with the hash `last`; raises `RecordDamaged` where one does not."""
    for one in events:
        if stored_hash(last, one) != one.hash:
            what = f"event {one.version} does not follow from the event before"
            raise RecordDamaged(f"debate {debate_id} was altered: {what}; see jury verify {debate_id}")
        last = one.hash
    history = DebateHistory.of_events(debate_id, events)
    refs = {one.statement.statement for one in history.events if isinstance(one, StatementMade)}
    evaluations = [one.evaluation for one in history.events if isinstance(one, JurorEvaluated)]
    judgments = (one.judgment.judge for one in history.events if isinstance(one, JudgmentRendered))
    evaluations += [judge for judge in judgments if judge is not None]
    refs |= {one.rationale for one in evaluations if one.rationale is not None}
    parts = store.parts(debate_id, [ref.digest for ref in refs]) if refs else {}
    texts = {ref.part: parts[ref.digest].content for ref in refs if ref.digest in parts}
    return [
        DecodedEvent(stored.position, stored.version, stored.hash, event, texts)
        for stored, event in zip(history.stored_events, history.events, strict=True)
    ]
