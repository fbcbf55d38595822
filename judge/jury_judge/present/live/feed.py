"""The live feed: one tail of the log a process, and a channel a debate that somebody follows.

Positions have no gaps and come in commit order, so whoever goes on from the last one misses nothing. The log is looked
at only while there are readers.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, NamedTuple, TypeVar

from jury_events.codec import decode
from jury_events.conditions import Values, fields_of
from jury_events.debate_events import DebateOpened, JurorEvaluated, StatementMade, TextsErased
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError, JuryError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import CALLS_PREFIX, DEBATE_PREFIX, debate_stream, stream_debate
from jury_judge.errors import TooManyReaders
from jury_judge.present.live.encodings import Encoding
from jury_judge.present.live.event_buffer import Cursor, DecodedEvent, EventBuffer
from jury_judge.present.live.points import START, Point
from jury_store.errors import StoreClosed, StoreError
from jury_store.event_store import EventStore

T = TypeVar("T")

MOST_READERS = 1000
"""Readers of a feed at once, unless it is told otherwise."""

_PAGE = 1000
_LOOK_EVERY = 0.05
"""Seconds between looks at the log."""
_AFTER_TROUBLE = 1.0

_log = logging.getLogger(__name__)


class Opening(NamedTuple):
    """A debate that was opened while somebody listened; `values` are what conditions on its case are asked of."""

    debate_id: str
    run_id: str | None
    values: Values


class Feed:
    """Follows the log in `store` for everybody in this event loop.

    Args:
        store: open for reading; not the feed's to close.
        most: readers at once.
    """

    def __init__(self, store: EventStore, *, most: int = MOST_READERS) -> None:
        self._store = store
        self._most = most
        self._channels: dict[tuple[str, str], EventBuffer[Any]] = {}
        self._heard: defaultdict[str, list[str]] = defaultdict(list)
        self._numbers = count(1)
        self._openings: list[Callable[[Opening], None]] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._asking = 0
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._problem: Exception | None = None
        self.readers = 0

    @asynccontextmanager
    async def follow(self, debate_id: str, form: Encoding[T], after: Point = START) -> AsyncIterator[Cursor[T]]:
        """A reader of what a debate tells beyond a place; one that is not opened yet is waited for.

        Raises:
            TooManyReaders: there is no place for another.
        """
        self._check()
        if self.readers >= self._most:
            raise TooManyReaders(f"{self.readers} readers follow debates here already; come back in a minute")
        key = (debate_id, form.name)
        channel: EventBuffer[T] = self._channels.setdefault(key, EventBuffer(debate_id, form))
        channel.readers += 1
        self.readers += 1
        if self._ended:
            channel.end()
        self._look_now()
        try:
            yield Cursor(channel, after)
        finally:
            self.readers -= 1
            channel.readers -= 1
            if not channel.readers and self._channels.get(key) is channel:
                del self._channels[key]
            await self._rest()

    @asynccontextmanager
    async def openings(self, tell: Callable[[Opening], None]) -> AsyncIterator[None]:
        """Meanwhile `tell` is told of every debate that opens; what opened before is in the store's lists."""
        self._openings.append(tell)
        try:
            await self.caught_up()
            yield
        finally:
            self._openings.remove(tell)
            await self._rest()

    def add_chunk(self, debate_id: str, text: str) -> None:
        """A chunk of what a final judge is writing in this process: shown, never stored."""
        if any(debate == debate_id for debate, _ in self._channels):
            self._heard[debate_id].append(text)

    async def caught_up(self) -> None:
        """Returns when everything that was stored before the call was told.

        Raises:
            StoreError: the log cannot be read, or the feed was closed meanwhile.
        """
        self._check()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        self._asking += 1
        self._look_now()
        try:
            await done
        finally:
            self._asking -= 1
            await self._rest()

    def end(self) -> None:
        """Let every reader go, those that come later too: this process is about to end."""
        self._ended = True
        for channel in self._channels.values():
            channel.end()

    def fail(self, problem: Exception) -> None:
        """The store goes away: every reader is told, and those that come later."""
        self._problem = problem
        for channel in self._channels.values():
            channel.fail(problem)
        waiting, self._waiting = self._waiting, []
        _answer(waiting, problem)

    async def close(self) -> None:
        """Stop looking at the log; `end` or `fail` lets the readers go that are left."""
        task, self._task = self._task, None
        # Whoever comes while the task ends waits for the next one.
        waiting, self._waiting = self._waiting, []
        _answer(waiting, _closed())
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _check(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _look_now(self) -> None:
        self._hurry.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    async def _rest(self) -> None:
        if not self._channels and not self._openings and not self._asking:
            await self.close()

    async def _look(self) -> None:
        position: int | None = None
        while True:
            self._hurry.clear()
            waiting, self._waiting = self._waiting, []
            wait = _LOOK_EVERY
            try:
                if position is None:
                    position = await asyncio.to_thread(self._store.last_position)
                full = True
                while full:
                    position, full = await self._look_once(position)
            except asyncio.CancelledError:
                _answer(waiting, _closed())
                raise
            except StoreError as error:
                _log.warning("the live feed cannot read the log: %s", error)
                wait = _AFTER_TROUBLE
                _answer(waiting, error)
            except Exception as error:  # a defect: whoever follows must not wait for ever
                _answer(waiting, error)
                for channel in self._channels.values():
                    channel.fail(error)
                raise
            _answer(waiting)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._hurry.wait()

    async def _look_once(self, position: int) -> tuple[int, bool]:
        """Tell what is beyond `position`; gives where the log was read to, and whether there is more."""
        heard, self._heard = self._heard, defaultdict(list)
        batch = await asyncio.to_thread(self._store.read_all, position, _PAGE)
        news: defaultdict[str, list[StoredEvent]] = defaultdict(list)
        calls: Counter[str] = Counter()
        for stored in batch:
            if stored.stream.startswith(DEBATE_PREFIX):
                news[stream_debate(stored.stream)].append(stored)
            elif stored.stream.startswith(CALLS_PREFIX):
                calls[stream_debate(stored.stream)] += 1
        self._tell_openings(batch)
        for channel in list(self._channels.values()):
            events = news.get(channel.debate_id, [])
            chunks = "".join(heard.get(channel.debate_id, ()))
            called = calls[channel.debate_id]
            if channel.problem is None and (events or chunks or called or not channel.loaded):
                await self._fill(channel, events, chunks, called)
        return (batch[-1].position if batch else position), len(batch) == _PAGE

    async def _fill(self, channel: EventBuffer[Any], events: Sequence[StoredEvent], chunks: str, calls: int) -> None:
        try:
            if any(event.type == _ERASED for event in events) and channel.loaded:
                channel.forget()
            if not channel.loaded:
                # Read after the batch: it holds what the batch holds, and what comes later is in the next one.
                events = await asyncio.to_thread(self._store.read_stream, debate_stream(channel.debate_id))
            happened = await asyncio.to_thread(_happened, self._store, channel.debate_id, events, channel.version)
            channel.take(happened, chunks, self._numbers, calls)
        except JuryError as error:
            if isinstance(error, StoreError):
                channel.forget()  # read whole again once the store is back
                raise
            channel.fail(error)

    def _tell_openings(self, batch: Sequence[StoredEvent]) -> None:
        for stored in batch if self._openings else ():
            if stored.type != _OPENED:
                continue
            try:
                opened = decode(stored)
            except EventError as error:
                _log.warning("an opening in the log is passed over: %s", error)
                continue
            if isinstance(opened, DebateOpened):
                for tell in self._openings:
                    tell(Opening(opened.debate_id, opened.run_id, fields_of(opened)))


_ERASED = TextsErased.model_fields["type"].default
_OPENED = DebateOpened.model_fields["type"].default


def _closed() -> StoreError:
    return StoreClosed("the live feed was closed; what is stored is read with: jury show")


def _answer(waiting: list[asyncio.Future[None]], error: Exception | None = None) -> None:
    for done in waiting:
        if not done.done():
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)


def _happened(store: EventStore, debate_id: str, events: Sequence[StoredEvent], after: int) -> list[DecodedEvent]:
    decoded = [(stored, decode(stored)) for stored in events if stored.version > after]
    refs = {one.statement.statement for _, one in decoded if isinstance(one, StatementMade)}
    refs |= {one.evaluation.rationale for _, one in decoded if isinstance(one, JurorEvaluated)}
    parts = store.parts(debate_id, [ref.digest for ref in refs]) if refs else {}
    texts = {ref.part: parts[ref.digest].content for ref in refs if ref.digest in parts}
    return [
        DecodedEvent(stored.position, stored.version, event, texts)
        for stored, event in decoded
        if not isinstance(event, ExchangeRecorded)
    ]
