"""A store that is open in `async with`; what all rooms of `Records` share."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import AsyncExitStack, aclosing, closing, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from jury_events.conditions import Condition, parse_conditions
from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_judge.blocking import BlockingWork
from jury_judge.errors import JuryClosed
from jury_judge.store_access.stores import WRITER_WAIT, open_or_create, open_writer
from jury_store.errors import StoreClosed
from jury_store.event_store import EventStore
from jury_store.opening import open_store

if TYPE_CHECKING:
    from jury_judge.feed import Feed

P = ParamSpec("P")
T = TypeVar("T")
Where = str | Condition | Iterable[str | Condition]
"""One condition on cases, or on recorded debates, or several, all of which must be met."""

_log = logging.getLogger(__name__)


def _closed(opening: "asyncio.Task[EventStore]") -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class OpenStore(BlockingWork):
    """A store, open for reading in `async with`; arguments as of `Records`."""

    def __init__(
        self, store_url: str, *, create: bool = True, threads: bool = True, readers: int | None = None
    ) -> None:
        super().__init__(threads=threads)
        self.store_url = store_url
        self._readers = readers
        self._create = create
        self._store: EventStore | None = None
        self._feed: Feed | None = None  # made when it is first needed: most callers follow nothing

    @classmethod
    def over(cls, store: EventStore, feed: "Feed", store_url: str = "") -> Self:
        """Records of a store that is open, with its feed; its opener closes both.

        Args:
            store_url: of the store; "" where it is in memory.
        """
        records = cls(store_url)
        records._store, records._feed = store, feed
        return records

    @property
    def store(self) -> EventStore:
        """The store, open for reading."""
        if self._store is None:
            raise _outside(self)
        return self._store

    @property
    def feed(self) -> "Feed":
        """The live events of the store's debates, also of those that other processes run."""
        if self._feed is None:
            from jury_judge.feed import MOST_READERS, Feed

            self._feed = Feed(self.store, most=self._readers or MOST_READERS)
        return self._feed

    async def __aenter__(self) -> Self:
        """Open the store for reading."""
        if self._store is not None:
            raise JuryClosed(f"this {type(self).__name__} is open already: use it, or create another one")
        opening = asyncio.create_task(self._blocking(self._open))
        try:
            self._store = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread cannot be cancelled: a store that it still opens must be closed.
            opening.add_done_callback(_closed)
            raise
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop what runs, and close the store."""
        await self._close()

    async def _close(self) -> None:
        async with AsyncExitStack() as stack:
            if self._store is not None:
                stack.callback(self._store.close)
            if self._feed is not None:
                self._feed.fail(_left())
                stack.push_async_callback(self._feed.close)
        self._store = self._feed = None

    def _open(self) -> EventStore:
        return open_or_create(self.store_url) if self._create else open_store(self.store_url, write=False)

    async def _read(self, reading: Callable[Concatenate[EventStore, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with while_open():
            return await self._blocking(reading, self.store, *args, **kwargs)

    async def _read_each(
        self,
        reading: Callable[Concatenate[EventStore, P], Generator[T, None, None]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> AsyncGenerator[T, None]:
        with while_open():
            async with aclosing(self._steps(reading, self.store, *args, **kwargs)) as found:
                async for one in found:
                    yield one

    async def _write(
        self, run: str, writing: Callable[Concatenate[EventStore, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Write with a writer that is open meanwhile only; `run` is in the lock of the store.

        The store need not be open for reading.
        """

        def write() -> T:
            with closing(open_writer(self.store_url, run=run, wait=WRITER_WAIT)) as store:
                return writing(store, *args, **kwargs)

        return await self._blocking(write)


def log_line(line: str) -> None:
    """What a method says where its caller takes no lines: a warning in the log."""
    _log.warning("%s", line)


def conditions_of(where: Where, *, recorded: bool = False) -> tuple[Condition, ...]:
    """The conditions, parsed; `recorded` as in `parse_condition`."""
    texts = (where,) if isinstance(where, str | Condition) else where
    return parse_conditions(map(str, texts), recorded=recorded)


def check_debate_id(debate_id: Any) -> None:
    """Refuse an invalid debate id."""
    from pydantic import TypeAdapter, ValidationError

    from jury_events.text import condensed
    from jury_events.value import DebateId

    try:
        TypeAdapter(DebateId).validate_python(debate_id)
    except ValidationError as error:
        shown = visible_line(repr(debate_id), 80)
        raise SettingError(f"debate_id: {shown} is invalid ({condensed(error)})") from error


@contextmanager
def while_open() -> Iterator[None]:
    """Reading that fails because the store was closed."""
    try:
        yield
    except StoreClosed as error:
        raise _left() from error


def _left() -> JuryClosed:
    return JuryClosed("its `async with` was left meanwhile; the same call resumes it")


def _outside(records: OpenStore) -> JuryClosed:
    name = type(records).__name__
    return JuryClosed(f"the store is not open, or was left: use {name} in `async with {name}(...) as ...:`")
