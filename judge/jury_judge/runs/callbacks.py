"""Callbacks with the live events of debates while they run."""

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from jury_actors.messages import Finished, Job
from jury_actors.runtime import Runtime, drive
from jury_events.errors import SettingError
from jury_judge.errors import JuryClosed

if TYPE_CHECKING:
    from jury_judge.feed import Feed

OnEvent = Callable[[dict[str, Any]], Any]
"""Takes each live event of a debate, in order; may be async, and is then awaited."""

OnEventOf = Callable[[str, dict[str, Any]], Any]
"""The same for many debates: takes the debate's id, then the event."""

_log = logging.getLogger(__name__)


class Callbacks:
    """Calls a function with every live event of debates, from the first event of each.

    An exception of the function is logged once a debate; the debate goes on.
    """

    def __init__(self, feed: "Feed", on_event: OnEventOf) -> None:
        self._feed = feed
        self._on_event = on_event
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, debate_id: str) -> None:
        """Follow a debate, from its first event on."""
        if debate_id not in self._tasks:
            self._tasks[debate_id] = asyncio.create_task(self._follow(debate_id))

    async def finish(self, debate_id: str) -> None:
        """The debate is over: returns after the call with its last event."""
        if (task := self._tasks.pop(debate_id, None)) is not None:
            await asyncio.shield(task)

    async def drop(self, *debate_ids: str) -> None:
        """Stop following these debates; without ids, all."""
        tasks = [self._tasks.pop(debate) for debate in debate_ids or list(self._tasks) if debate in self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def drive(
        self, runtime: Runtime, jobs: Iterator[Job | None], *, admits: Callable[[Job], Awaitable[bool]], **options: Any
    ) -> AsyncGenerator[Finished, None]:
        """See `jury_actors.runtime.drive`; calls back for each debate from its submission to its end."""

        async def begun(job: Job) -> bool:
            if (admitted := await admits(job)) and not (job.stage is not None and job.stage.audit):
                self.begin(job.debate_id)
            return admitted

        try:
            async with aclosing(drive(runtime, jobs, admits=begun, **options)) as driven:
                async for finished in driven:
                    await (self.finish if finished.problem is None else self.drop)(finished.debate_id)
                    yield finished
        finally:
            await self.drop()

    async def _follow(self, debate_id: str) -> None:
        from jury_views.live_events import LIVE_EVENTS

        logged = False
        try:
            async with self._feed.follow(debate_id, LIVE_EVENTS) as reader:
                async for one in reader:
                    try:
                        answer = self._on_event(debate_id, one.event)
                        if inspect.isawaitable(answer):
                            await answer
                    except Exception:  # noqa: BLE001  (the caller's code)
                        if not logged:
                            logged = True
                            _log.exception("debate %s: the callback failed at %s", debate_id, one.event["type"])
        except JuryClosed:
            return  # the caller of `evaluate` gets this error
        except Exception:  # noqa: BLE001  (a failed callback must not end the debate)
            _log.exception("debate %s: no more events are passed to the callback; the debate goes on", debate_id)


def check_callback(on_event: Any) -> None:
    """Refuse a callback that is not callable."""
    if on_event is not None and not callable(on_event):
        raise SettingError(f"on_event: must be a function of an event, not a {type(on_event).__name__}")


@asynccontextmanager
async def called_back(feed: "Feed", debate_id: str, on_event: OnEvent | None) -> AsyncIterator[None]:
    """Call `on_event` with the events of one debate; on leaving, the debate is over, and the last call is awaited."""
    if on_event is None:
        yield
        return
    check_callback(on_event)
    callbacks = Callbacks(feed, lambda _debate, event: on_event(event))
    callbacks.begin(debate_id)
    try:
        yield
        await callbacks.finish(debate_id)
    finally:
        await callbacks.drop()
