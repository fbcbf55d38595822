"""Fetches what a runtime's actors observe: one call an actor every few seconds, and one at the end."""

import asyncio
import logging
from collections.abc import Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from jury_actors.errors import ClusterLost
from jury_actors.mailbox import IncarnationLost
from jury_actors.observation.actor_observation import Observed
from jury_actors.observation.metric_totals import MetricTotals
from jury_actors.ray_proxy import remotely

_log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two calls."""

_AT_END = 5.0
"""Seconds that the last calls may take."""


class ObservedActor(NamedTuple):
    """An actor: `name` is its name in the runtime's namespace."""

    name: str
    handle: Any


class RayCollection:
    """Passes counts to `totals`, and log records to this process's log; a lost actor is left out until it is back.

    Args:
        totals: None: nothing is counted.
        every: seconds between two calls.
    """

    def __init__(self, totals: MetricTotals | None, *, every: float = EVERY) -> None:
        self._totals = totals
        self._every = every
        self._runtime = token_hex(8)
        self._seen: dict[str, tuple[str, int]] = {}
        # A task each: an actor that does not answer delays no other.
        self._tasks: dict[ObservedActor, asyncio.Task[None]] = {}

    def add(self, actor: ObservedActor) -> None:
        """Fetch what this actor observes from now on."""
        self._tasks[actor] = asyncio.create_task(self._fetch_again_and_again(actor))

    async def remove(self, name: str) -> None:
        """Fetch for the last time from the actor of this name, which is about to be ended."""
        await self._end([actor for actor in self._tasks if actor.name == name])

    async def close(self) -> None:
        """Fetch for the last time from all; may be called again."""
        await self._end(list(self._tasks))

    async def _end(self, actors: Sequence[ObservedActor]) -> None:
        tasks = [self._tasks.pop(actor) for actor in actors]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        last = [asyncio.create_task(self._fetch(actor)) for actor in actors]
        if last:
            _, late = await asyncio.wait(last, timeout=_AT_END)
            for task in late:
                task.cancel()
        if self._totals is not None:
            for actor in actors:
                self._totals.end(self._source(actor))

    async def _fetch_again_and_again(self, actor: ObservedActor) -> None:
        while True:
            await asyncio.sleep(self._every)
            await self._fetch(actor)

    async def _fetch(self, actor: ObservedActor) -> None:
        incarnation, number = self._seen.get(actor.name, ("", 0))
        try:
            observed: Observed = await remotely(actor.handle.observed, incarnation, number)
        except (IncarnationLost, ClusterLost):
            return  # others report it
        except Exception:  # noqa: BLE001  (debates go on unobserved)
            _log.info("%s cannot be observed", actor.name, exc_info=True)
            return
        self._seen[actor.name] = observed.incarnation, observed.upto
        for record in observed.records:
            _pass_on(logging.makeLogRecord(record))
        if self._totals is not None and observed.snapshot is not None:
            self._totals.receive(self._source(actor), actor.name, observed.incarnation, observed.snapshot)

    def _source(self, actor: ObservedActor) -> str:
        return f"{self._runtime}/{actor.name}"


def _pass_on(record: logging.LogRecord) -> None:
    log = logging.getLogger(record.name)
    if log.isEnabledFor(record.levelno):
        log.handle(record)
