"""Watches a court's actors on Ray from the driver: says what they say and when one dies; ends a run that gets nowhere.

Ray starts a dead actor again, as often as it dies. That is right for a process that was killed, and would go on for
ever for one that dies of what it is asked.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ray.exceptions import ActorUnavailableError

from jury_actors.backoff import Backoff
from jury_actors.errors import ActorLost, ClusterLost
from jury_actors.notices import ANYBODY, Recurrence, Say
from jury_actors.ray_proxy import remotely

MOST_DEATHS = 10
"""Deaths of one actor within `DEATHS_WITHIN` seconds that end the run."""

DEATHS_WITHIN = 120.0

MOST_AWAY = 300.0
"""Seconds for which an actor may answer nothing, as behind a network that is cut, before the run ends."""

_LOOKS = Backoff(base=0.2, cap=1.0)
"""Seconds between two looks at an actor that does not answer: one that dies again in between is counted once."""


class Watched(NamedTuple):
    """An actor: `name` as people read it, and what happens next when it dies."""

    name: str
    then: str
    handle: Any


class RayWatch:
    """Open for as long as the court sits. `ended` gets the problem that ends the run.

    Args:
        actors: whom to watch.
        say: takes one line for the person.
        clock: seconds.
    """

    def __init__(self, actors: list[Watched], say: Say, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._say = say
        self._clock = clock
        self._deaths = Recurrence(MOST_DEATHS, DEATHS_WITHIN)
        self._tasks = [asyncio.create_task(self._watch(actor)) for actor in actors]

    async def close(self) -> None:
        """Watch nobody any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.ended.cancel()

    async def _watch(self, actor: Watched) -> None:
        life, ack = ANYBODY, 0
        away_since: float | None = None
        tries = 1
        while not self.ended.done():
            try:
                delivery = await remotely(actor.handle.notices, life, ack)
            except ActorUnavailableError:
                if away_since is None:
                    away_since = self._clock()
                    self._lose(actor)
                elif self._clock() - away_since > MOST_AWAY:
                    self._end(f"{actor.name} has not answered for {MOST_AWAY:g} s")
                life, ack = ANYBODY, 0
                tries += 1
                await asyncio.sleep(_LOOKS.delay(tries, jitter=1.0, retry_after=None))
                continue
            except ClusterLost:
                return  # whoever calls the court learns it from that call
            if away_since is None and life not in (ANYBODY, delivery.life):
                self._lose(actor)
            away_since, tries = None, 1
            life, ack = delivery.life, delivery.upto
            for text in delivery.items:
                self._say(text)

    def _lose(self, actor: Watched) -> None:
        if self._deaths.happened(actor.name, self._clock()):
            self._end(f"{actor.name} died {MOST_DEATHS} times within {DEATHS_WITHIN:g} s")
        else:
            self._say(f"{actor.name} was lost; {actor.then}")

    def _end(self, what: str) -> None:
        if not self.ended.done():
            self.ended.set_exception(ActorLost(what))
            self.ended.exception()  # where nobody asks for it any more, that is no mistake
