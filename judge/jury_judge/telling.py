"""Debates told to a callback while they are held."""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from jury_actors.holding import CoordinatorPort
from jury_actors.messages import Chunk, Delivery, Finished, Job
from jury_judge.errors import JuryClosed, SettingError
from jury_judge.live.feed import Feed
from jury_judge.live.forms import LIVE_EVENTS
from jury_store.seals.seal import Seal

OnEvent = Callable[[dict[str, Any]], Any]
"""Takes each live event of a debate, in order; may be async, and is awaited then."""

OnEventOf = Callable[[str, dict[str, Any]], Any]
"""The same for many debates: takes the debate's id too."""

_log = logging.getLogger(__name__)


class Telling:
    """Tells a callback everything that happens in debates, each from its first event.

    A callback that raises is said once a debate, in the log of this module, and harms none.
    """

    def __init__(self, feed: Feed, tell: OnEventOf) -> None:
        self._feed = feed
        self._tell = tell
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, debate_id: str) -> None:
        """Tell of a debate that is opened now, or was before."""
        if debate_id not in self._tasks:
            self._tasks[debate_id] = asyncio.create_task(self._follow(debate_id))

    async def finish(self, debate_id: str) -> None:
        """The debate is over: returns when its last event was told."""
        if (task := self._tasks.pop(debate_id, None)) is not None:
            await asyncio.shield(task)

    async def drop(self, *debate_ids: str) -> None:
        """Tell nothing more of them; without ids, of none."""
        tasks = [self._tasks.pop(debate) for debate in debate_ids or list(self._tasks) if debate in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, debate_id: str) -> None:
        said = False
        try:
            async with self._feed.follow(debate_id, LIVE_EVENTS) as reader:
                async for one in reader:
                    try:
                        answer = self._tell(debate_id, one.event)
                        if inspect.isawaitable(answer):
                            await answer
                    except Exception:  # noqa: BLE001  (it is anybody's code)
                        if not said:
                            said = True
                            _log.exception("debate %s: the callback failed at %s", debate_id, one.event["type"])
        except JuryClosed:
            return  # whoever waits for the debate is told
        except Exception:  # noqa: BLE001  (whatever it is, the debate has nothing to do with it)
            _log.exception("debate %s cannot be told any more; it goes on", debate_id)


def check_callback(on_event: Any) -> None:
    """Refuse what cannot be called.

    Raises:
        SettingError: it cannot.
    """
    if on_event is not None and not callable(on_event):
        raise SettingError(f"on_event: must be a function of an event, not a {type(on_event).__name__}")


@asynccontextmanager
async def told(feed: Feed, debate_id: str, on_event: OnEvent | None) -> AsyncIterator[None]:
    """Tell of one debate meanwhile; left in order, the debate is over, and its last event is waited for."""
    if on_event is None:
        yield
        return
    check_callback(on_event)
    telling = Telling(feed, lambda _debate, event: on_event(event))
    telling.begin(debate_id)
    try:
        yield
        await telling.finish(debate_id)
    finally:
        await telling.drop()


class ToldPort:
    """A coordinator's port whose debates are told of, from their submission to their end."""

    def __init__(self, port: CoordinatorPort, telling: Telling) -> None:
        self._port = port
        self._telling = telling

    async def submit(self, jobs: Sequence[Job]) -> None:
        """See `CoordinatorPort`."""
        for job in jobs:
            self._telling.begin(job.debate_id)
        await self._port.submit(jobs)

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        """See `CoordinatorPort`."""
        delivery = await self._port.poll(life, ack)
        for item in delivery.items:
            if isinstance(item, Finished):
                await (self._telling.finish if item.problem is None else self._telling.drop)(item.debate_id)
        return delivery

    async def release(self, debate_ids: Sequence[str]) -> None:
        """See `CoordinatorPort`."""
        await self._port.release(debate_ids)

    async def store_seal(self, seal: Seal) -> bool:
        """See `CoordinatorPort`."""
        return await self._port.store_seal(seal)

    async def store_run_size(self, run_id: str, cases: int | None) -> None:
        """See `CoordinatorPort`."""
        await self._port.store_run_size(run_id, cases)
