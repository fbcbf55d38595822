"""One court for many callers: set up when it is first needed, its coordinator polled once for all of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from jury_actors.errors import ClusterLost
from jury_actors.failing import has_failed
from jury_actors.holding import CoordinatorLost, CoordinatorPort
from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_store.seals.seal import Seal

_LIFE = "shared"
"""Callers live in this process: what they are handed does not get lost, and needs no acknowledgement."""


class SharedCourt:
    """A court, open from its first caller until it is closed. One whose coordinator is gone is set up anew.

    Args:
        court: sets up the actors.
    """

    def __init__(self, court: Callable[[], AbstractAsyncContextManager[CoordinatorPort]]) -> None:
        self._court = court
        self._opening: asyncio.Task[_Session] | None = None
        self._closed: Exception | None = None

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[CoordinatorPort]:
        """A port of one's own; on leaving, the debates that nobody else waits for stop where they are.

        Raises:
            StoreError, ActorError: the court cannot be set up.
        """
        session = await self._session()
        caller = session.enter()
        try:
            yield caller
        finally:
            await asyncio.shield(session.leave(caller))

    async def close(self, problem: Exception) -> None:
        """Let the court go; what runs stops where it is, and every caller that still waits gets `problem`."""
        self._closed = problem
        if self._opening is not None:
            with suppress(Exception):
                session = await self._opening
                await session.close(problem)

    async def _session(self) -> "_Session":
        opening = self._opening
        if opening is not None and has_failed(opening):
            self._opening = None
        elif opening is not None and opening.done() and opening.result().broken:
            self._opening = None
            with suppress(Exception):  # of a cluster that is gone nothing can be let go in order
                await opening.result().close(self._closed)
        if self._closed is not None:
            raise self._closed
        if self._opening is None:
            self._opening = asyncio.create_task(_Session.open(self._court))
        # Shared by whoever waits for it: one of them may be cancelled.
        return await asyncio.shield(self._opening)


class _Session:
    """A court that sits."""

    def __init__(self, court: AbstractAsyncContextManager[CoordinatorPort], port: CoordinatorPort) -> None:
        self._court = court
        self._port = port
        self._callers: set[_Caller] = set()
        self._problem: Exception | None = None
        self._poller = asyncio.create_task(self._poll())

    @classmethod
    async def open(cls, court: Callable[[], AbstractAsyncContextManager[CoordinatorPort]]) -> "_Session":
        entered = court()
        return cls(entered, await entered.__aenter__())

    @property
    def broken(self) -> bool:
        return self._problem is not None

    def enter(self) -> "_Caller":
        caller = _Caller(self._port)
        if self._problem is not None:
            caller.fail(self._problem)
        self._callers.add(caller)
        return caller

    async def leave(self, caller: "_Caller") -> None:
        self._callers.discard(caller)
        others = {debate for other in self._callers for debate in other.waiting}
        left = [debate for debate in caller.waiting if debate not in others]
        if left and self._problem is None:
            # A coordinator that was lost holds nothing, and one that is gone for good is told of elsewhere.
            with suppress(CoordinatorLost, Exception):
                await self._port.release(left)

    async def close(self, problem: Exception | None) -> None:
        self._poller.cancel()
        with suppress(asyncio.CancelledError):
            await self._poller
        if problem is not None:
            self._break(problem)
        await self._court.__aexit__(None, None, None)

    def _break(self, problem: Exception) -> None:
        self._problem = self._problem or problem
        for caller in self._callers:
            caller.fail(self._problem)

    async def _poll(self) -> None:
        life, ack = "", 0
        while True:
            try:
                delivery = await self._port.poll(life, ack)
            except CoordinatorLost:
                life, ack = "", 0
                self._lose()
                continue
            except Exception as error:  # noqa: BLE001  (whatever it is, every caller must hear of it)
                self._break(error)
                return
            if life and delivery.life != life:
                self._lose()
            life, ack = delivery.life, delivery.upto
            for item in delivery.items:
                for caller in self._callers:
                    caller.take(item)
                if isinstance(item, Finished) and isinstance(item.problem, ClusterLost):
                    # An actor is gone for good: the next caller gets a court that has all of them.
                    self._break(item.problem)

    def _lose(self) -> None:
        """Another coordinator takes over and knows nothing: each caller sends what it waits for again."""
        for caller in self._callers:
            caller.lose()


class _Caller:
    """See `CoordinatorPort`. `waiting` are the debates that it sent and has not got back."""

    def __init__(self, port: CoordinatorPort) -> None:
        self.waiting: set[str] = set()
        self._port = port
        self._items: list[Finished | Chunk] = []
        self._given = 0
        self._lost = False
        self._problem: Exception | None = None
        self._filled = asyncio.Event()

    async def submit(self, jobs: Sequence[Job]) -> None:
        if self._problem is not None:
            raise self._problem
        self.waiting.update(job.debate_id for job in jobs)
        await self._port.submit(jobs)

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:  # noqa: ARG002  (see `_LIFE`)
        await self._filled.wait()
        if self._problem is not None:
            raise self._problem
        if self._lost:
            self._lost = False
            if not self._items:
                self._filled.clear()
            raise CoordinatorLost
        self._filled.clear()
        items, self._items = self._items, []
        self._given += len(items)
        return Delivery(_LIFE, self._given, items)

    async def release(self, debate_ids: Sequence[str]) -> None:
        await self._port.release(debate_ids)

    async def store_seal(self, seal: Seal) -> bool:
        return await self._port.store_seal(seal)

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        await self._port.store_run_size(run_id, cases)

    def take(self, item: Finished | Chunk) -> None:
        if item.debate_id not in self.waiting:
            return
        if isinstance(item, Finished):
            self.waiting.discard(item.debate_id)
        self._items.append(item)
        self._filled.set()

    def lose(self) -> None:
        self._lost = True
        self._filled.set()

    def fail(self, problem: Exception) -> None:
        self._problem = problem
        self._filled.set()
