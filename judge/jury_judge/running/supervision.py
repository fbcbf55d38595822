"""What the process that executes a run does for other processes: it says what it is doing, and hears who cancels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from jury_actors.effects import Effects
from jury_actors.errors import ActorError
from jury_actors.mailbox import IncarnationLost
from jury_actors.notices import Say, say_nothing
from jury_actors.runtime import Runtime
from jury_judge.running.cancelling import RunLog, cancel_recorded, requester, unfinished_debates
from jury_judge.running.status_file import ProcessFigures, StatusFile
from jury_store.errors import StoreError
from jury_store.event_store import EventStore
from jury_store.opening import parse_store_url
from jury_store.run_registry import RunRegistry, open_registry

_EVERY = 1.0
"""Seconds between two looks."""

_AWAY = (StoreError, ActorError, IncarnationLost, TimeoutError, OSError)
"""A store or an actor that is away for a moment."""

_ANSWERS_WITHIN = 5.0
"""Seconds that the actors have to say what they do."""


class RunSupervision:
    """One session of a run, as others see it.

    `cancelled_by` is set once a person cancelled the run. What counts is its stream; a request beside it is taken where
    who asks cannot write to the store, and is recorded here.

    Args:
        detached: this process belongs to no terminal.
        reopens: how many cancellations the person knew who asked for this session: from these the run is reopened.
        listed: the run has a stream already. Then no request is beside it on PostgreSQL, where any process may write,
            and many runs at once need no connection each.
        every: seconds between two looks.
        say: takes a line for the user when the run is cancelled.
    """

    def __init__(
        self,
        store_url: str,
        run_id: str,
        *,
        detached: bool = False,
        reopens: int = 0,
        listed: bool = False,
        every: float = _EVERY,
        say: Say = say_nothing,
    ) -> None:
        self._url = store_url
        self._run_id = run_id
        self._detached = detached
        self._reopens = reopens
        self._in_stream = listed and parse_store_url(store_url).get_backend_name() != "sqlite"
        self._every = every
        self._say = say
        self.cancelled_by: str | None = None

    @asynccontextmanager
    async def around(self, runtime: Runtime, store: EventStore, stopping: asyncio.Event) -> AsyncIterator[None]:
        """Watch over a run; if it is cancelled, what did not end in the context is cancelled on leaving it.

        Args:
            stopping: set once the run is cancelled: no new debate begins.
        """
        take = partial(StatusFile.take, began=Effects().clock(), detached=self._detached)
        taking = asyncio.create_task(asyncio.to_thread(take, self._url, self._run_id))
        try:
            file = await asyncio.shield(taking)
            log = RunLog(store, self._run_id)
            with suppress(*_AWAY):
                await self._hear(log, runtime, stopping)
            task = asyncio.create_task(self._look_and_say(log, runtime, stopping, file))
            try:
                yield
                await _ended(task)
                if self.cancelled_by is not None:
                    # The thread of a last look may still read into the other.
                    await RunLog(store, self._run_id).cancel(runtime.clerk, self.cancelled_by)
                    left = await asyncio.to_thread(unfinished_debates, store, self._run_id)
                    await cancel_recorded(runtime.clerk, left, self.cancelled_by)
            finally:
                await _ended(task)
        finally:
            if taking.done():
                _release(taking)
            else:  # the thread cannot be cancelled: the file that it still takes must be released
                taking.add_done_callback(_release)

    async def _look_and_say(
        self, log: RunLog, runtime: Runtime, stopping: asyncio.Event, file: StatusFile | None
    ) -> None:
        registry = open_registry(self._url)
        try:
            while True:
                with suppress(*_AWAY):
                    await self._hear(log, runtime, stopping, registry)
                    if file is not None:
                        async with asyncio.timeout(_ANSWERS_WITHIN):
                            load = await runtime.coordinators.load(self._run_id)
                        file.write(ProcessFigures.of(load, Effects().clock()))
                await asyncio.sleep(self._every)
        finally:
            registry.close()

    async def _hear(
        self, log: RunLog, runtime: Runtime, stopping: asyncio.Event, registry: RunRegistry | None = None
    ) -> None:
        if self.cancelled_by is None:
            by = await self._cancelled_in(log, runtime)
            if by is None and registry is not None and not self._in_stream:
                by = await asyncio.to_thread(registry.cancelled_by, self._run_id)
            if by is None:
                return
            self.cancelled_by = by
            stopping.set()
            self._say(f"run {self._run_id} is cancelled by {by}; answers to calls in flight are recorded")
        # At every look: a debate may have been submitted meanwhile.
        await runtime.coordinators.cancel(self._run_id, self.cancelled_by)
        await log.cancel(runtime.clerk, self.cancelled_by)

    async def _cancelled_in(self, log: RunLog, runtime: Runtime) -> str | None:
        """Who cancelled the run, as its stream says; it is reopened where the person knew of that."""
        facts = await asyncio.to_thread(log.look)
        if facts is None or facts.cancelled_by is None or facts.requests > self._reopens:
            return None if facts is None else facts.cancelled_by
        await log.reopen(runtime.clerk, by := requester())
        self._say(f"run {self._run_id} was cancelled by {facts.cancelled_by}; {by} goes on with it")
        return None


def _release(taking: "asyncio.Task[StatusFile | None]") -> None:
    if not taking.cancelled() and taking.exception() is None and (file := taking.result()) is not None:
        file.release()


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
