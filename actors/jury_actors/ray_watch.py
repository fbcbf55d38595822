"""Watches a runtime's actors from the driver: reports their notices and deaths; ends a run that makes no progress.

Ray restarts a dead actor, as often as it dies. That is right for a process that was killed, but would never end for one
that dies of its input.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from jury_actors.backoff import Backoff
from jury_actors.errors import ActorLost
from jury_actors.mailbox import MailboxClient
from jury_actors.notices import Notice, Recurrence, Say
from jury_actors.ray_proxy import remotely

MOST_DEATHS = 10
"""Deaths of one actor within `DEATHS_WITHIN` seconds that end the run."""

DEATHS_WITHIN = 120.0

MOST_AWAY = 300.0
"""Seconds for which an actor may not answer, as behind a network partition, before the run ends."""

_PROBES = Backoff(base=0.2, cap=1.0)
"""Seconds between probes of an actor that does not answer: one that dies again in between is counted once."""


class Watched(NamedTuple):
    """An actor: `name` as users read it, and what happens next when it dies."""

    name: str
    then: str
    handle: Any


class RayWatch:
    """Sets `ActorLost` on `ended` when an actor dies too often, or does not answer for too long.

    Args:
        say: takes one line for the user.
        ended: the runtime's end.
        clock: seconds.
    """

    def __init__(
        self,
        say: Say,
        ended: "asyncio.Future[None]",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._ended = ended
        self._clock = clock
        self._deaths = Recurrence(MOST_DEATHS, DEATHS_WITHIN)
        self._mailboxes: dict[Any, MailboxClient[object, str]] = {}

    def add(self, actor: Watched) -> None:
        """Watch this actor."""
        self._mailboxes[actor.handle] = self._watch(actor)

    async def remove(self, handle: Any) -> None:
        """Watch the actor no longer: it is about to be ended."""
        await self._mailboxes.pop(handle).close()

    async def close(self) -> None:
        """Stop watching."""
        await asyncio.gather(*(mailbox.close() for mailbox in self._mailboxes.values()))

    def _watch(self, actor: Watched) -> MailboxClient[object, str]:
        lost_at = 0.0

        def on_loss(_unconfirmed: list[object]) -> list[object]:
            nonlocal lost_at
            lost_at = self._clock()
            self._lose(actor)
            return []

        def on_away() -> None:
            if self._clock() - lost_at > MOST_AWAY:
                self._end(f"{actor.name} has not answered for {MOST_AWAY:g} s")

        return MailboxClient(
            _nothing_to_submit,
            partial(remotely, actor.handle.notices),
            on_item=self._say,
            on_loss=on_loss,
            on_away=on_away,
            on_error=lambda _error: None,  # a lost cluster is reported by the calls of the runtime
            away=_PROBES,
        )

    def _lose(self, actor: Watched) -> None:
        if self._deaths.happened(actor.name, self._clock()):
            self._end(f"{actor.name} died {MOST_DEATHS} times within {DEATHS_WITHIN:g} s")
        elif not self._ended.done():
            self._say(Notice(f"{actor.name} was lost; {actor.then}", "actor_lost", actor=actor.name))

    def _end(self, what: str) -> None:
        if not self._ended.done():
            self._ended.set_exception(ActorLost(what))
            self._ended.exception()  # marks it as retrieved: there may be no further call


async def _nothing_to_submit(_messages: Sequence[object]) -> None:
    """A watcher only polls: its client has no message to send."""
