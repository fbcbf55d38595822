"""The ports by which the actors of a court reach each other over Ray."""

import asyncio
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from ray.exceptions import ActorDiedError, ActorUnavailableError, RayError, RayTaskError

from jury_actors.admission.claim import Granted
from jury_actors.admission.desk import Message
from jury_actors.admission.desk_link import DeskLost
from jury_actors.backoff import Backoff
from jury_actors.clerk import Recollection
from jury_actors.errors import ClusterLost
from jury_actors.holding import CoordinatorLost
from jury_actors.juror_link import JurorLost
from jury_actors.messages import Ask, Chunk, Delivery, Finished, Job, Told
from jury_events.errors import JuryError
from jury_store.errors import StoreError
from jury_store.event_store import Append, Appended
from jury_store.seals.seal import Seal

_REBIRTH = 0.2
"""Seconds until a dead actor's name may be free again, or one that cannot be reached is asked again."""

_AWAY = Backoff(base=_REBIRTH, cap=2.0)


def pack(message: object) -> bytes:
    """Ray pickles with cloudpickle, for code; messages of plain values take a third of that without it."""
    return pickle.dumps(message, protocol=5)


async def remotely(method: Any, *args: Any) -> Any:
    """Call another process; an error of ours is raised as itself, without the traceback that Ray makes its message."""
    try:
        return await method.remote(*args)
    except RayTaskError as error:
        if isinstance(error.cause, JuryError):
            raise error.cause from None
        raise
    except ActorUnavailableError:
        raise
    except RayError as error:
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise ClusterLost(f"{type(error).__name__}: {first}") from error


class RayDeskPort:
    """A desk in another process.

    Args:
        find: gives the actor; asked again when it died for good.
    """

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find
        self._handle: Any = None

    async def submit(self, client: str, messages: Sequence[Message]) -> None:
        """See `DeskPort`."""
        await self._call("submit", client, pack(messages))

    async def poll(self, client: str, life: str, ack: int) -> Delivery[Granted]:
        """See `DeskPort`."""
        delivery: Delivery[Granted] = pickle.loads(await self._call("poll", client, life, ack))
        return delivery

    async def _call(self, method: str, *args: Any) -> Any:
        if self._handle is None:
            self._handle = self._find()
        try:
            return await remotely(getattr(self._handle, method), *args)
        except ActorUnavailableError as error:
            await asyncio.sleep(_REBIRTH)
            raise DeskLost from error
        except ClusterLost as error:
            if not isinstance(error.__cause__, ActorDiedError):
                raise
            self._handle = None
            await asyncio.sleep(_REBIRTH)
            raise DeskLost from error


class RayClerkPort:
    """A clerk in another process. Its death is waited out: everything it is sent may be sent again."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def record(self, batch: Sequence[Append]) -> list[Appended | StoreError]:
        """See `ClerkPort`."""
        answers: list[Appended | StoreError] = await self._call("record", pack(batch))
        return answers

    async def next_epoch(self) -> int:
        """See `ClerkPort`."""
        epoch: int = await self._call("next_epoch")
        return epoch

    async def recall(self, debate_ids: Sequence[str]) -> dict[str, Recollection]:
        """See `ClerkPort`."""
        known: dict[str, Recollection] = await self._call("recall", debate_ids)
        return known

    async def recorded(self, debate_id: str) -> frozenset[str]:
        """See `ClerkPort`."""
        known: frozenset[str] = await self._call("recorded", debate_id)
        return known

    async def store_seal(self, seal: Seal) -> bool:
        """See `ClerkPort`."""
        kept: bool = await self._call("store_seal", seal)
        return kept

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `ClerkPort`."""
        await self._call("store_run_size", run_id, cases)

    async def open(self) -> None:
        """Open the store; raises what `open_store` raises."""
        await self._call("open")

    async def close(self) -> None:
        """Store what waits and let go of the database."""
        await self._call("close")

    async def _call(self, method: str, *args: Any) -> Any:
        tries = 1
        while True:
            try:
                return await remotely(getattr(self._handle, method), *args)
            except ActorUnavailableError:
                tries += 1
                await asyncio.sleep(_AWAY.delay(tries, jitter=1.0, retry_after=None))


class RayJurorPort:
    """A juror in another process."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def submit(self, asks: Sequence[Ask], release: Sequence[str]) -> None:
        """See `JurorPort`."""
        try:
            await remotely(self._handle.submit, pack((asks, release)))
        except ActorUnavailableError as error:
            raise JurorLost from error

    async def poll(self, life: str, ack: int) -> Delivery[Told | Chunk]:
        """See `JurorPort`."""
        try:
            delivery: Delivery[Told | Chunk] = pickle.loads(await remotely(self._handle.poll, life, ack))
        except ActorUnavailableError as error:
            raise JurorLost from error
        return delivery


class RayCoordinatorPort:
    """A coordinator in another process.

    Args:
        handle: the actor.
        ended: once it holds a problem, every call raises that: the run ends.
    """

    def __init__(self, handle: Any, ended: "asyncio.Future[None]") -> None:
        self._handle = handle
        self._ended = ended

    async def submit(self, jobs: Sequence[Job]) -> None:
        """See `CoordinatorPort`."""
        await self._call("submit", jobs)

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """See `CoordinatorPort`."""
        delivery: Delivery[Finished | Chunk] = await self._call("poll", life, ack)
        return delivery

    async def release(self, debate_ids: Sequence[str]) -> None:
        """See `CoordinatorPort`."""
        await self._call("release", debate_ids)

    async def store_seal(self, seal: Seal) -> bool:
        """See `CoordinatorPort`."""
        kept: bool = await self._call("store_seal", seal)
        return kept

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `CoordinatorPort`."""
        await self._call("store_run_size", run_id, cases)

    async def _call(self, method: str, *args: Any) -> Any:
        called = asyncio.ensure_future(remotely(getattr(self._handle, method), *args))
        try:
            await asyncio.wait({called, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done() and not self._ended.cancelled():
                self._ended.result()
            return await called
        except ActorUnavailableError as error:
            await asyncio.sleep(_REBIRTH)
            raise CoordinatorLost from error
        finally:
            called.cancel()
