"""Watching the actors on Ray: which ones died, and why.

Ray restarts a dead actor, as often as it dies. That is right for a process that was killed, but would never end for one
that dies of its input. An actor may die many times before one of its successors answers, so Ray is asked how often it
has restarted an actor that was lost.

Ray's public state API asks a dashboard, which these clusters do not have; the head answers the same questions.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ray._private.state import state

from jury_actors.background import in_daemon_thread
from jury_actors.effects import Backoff
from jury_actors.errors import ActorLost
from jury_actors.mailbox import MailboxClient
from jury_actors.notices import Notice, Recurrence, Say
from jury_actors.ray_proxy import remotely


class DeathCount:
    """The deaths of one actor, counted by what is seen of it.

    A lost connection is one death, seen at once. Ray's number of restarts is exact, but comes later: it also has the
    deaths of successors that died before they answered. A connection that was lost without a death (a network that
    failed for a while) counts too, until the restarts have caught up.

    Attributes:
        total: deaths so far.
    """

    def __init__(self) -> None:
        self.total = 0
        self._losses = 0

    def lost(self) -> int:
        """The connection was lost; returns the deaths that were not counted before."""
        self._losses += 1
        return self._raise_to(self._losses)

    def restarted(self, number: int) -> int:
        """Ray has restarted it `number` times in all; returns the deaths that were not counted before."""
        return self._raise_to(number)

    def _raise_to(self, number: int) -> int:
        new = max(0, number - self.total)
        self.total += new
        return new


class ActorState(NamedTuple):
    """An actor.

    Attributes:
        node: the id of its node; None while it is starting.
        alive: whether it is.
        restarts: how often Ray has restarted it.
    """

    node: str | None
    alive: bool
    restarts: int


def actor_state(handle: Any) -> ActorState | None:
    """Of the actor with this handle; None if the head does not know it. Blocks while the head does not answer."""
    found: dict[str, Any] = state.actor_table(handle._actor_id.hex())  # noqa: SLF001  (a handle has no public id)
    if not found:
        return None
    alive = found["State"] == "ALIVE"
    return ActorState(found["Address"]["NodeID"] if alive else None, alive, found["NumRestarts"])


MOST_DEATHS = 10
"""Deaths of one actor within `DEATHS_WITHIN` seconds that end the run."""

DEATHS_WITHIN = 120.0

MOST_AWAY = 300.0
"""Seconds for which an actor may not answer, as behind a network partition, before the run ends."""

_PROBES = Backoff(base=0.2, cap=1.0)
"""Seconds between probes of an actor that does not answer."""

_LOOK_EVERY = 1.0
"""Seconds between two questions to Ray about an actor that was lost."""

_LOOKS = 30
"""Questions after which Ray's number of restarts is waited for no longer: only the connection was lost."""


class Watched(NamedTuple):
    """An actor: `name` as users read it, and what happens next when it dies."""

    name: str
    then: str
    handle: Any


class RayWatch:
    """Sets `ActorLost` on `ended` when an actor dies too often, or does not answer for too long.

    Args:
        ended: the runtime's end.
        clock: seconds.
        state: what Ray knows of an actor, by its handle; may block.
        look_every: seconds between two questions.
    """

    def __init__(
        self,
        say: Say,
        ended: "asyncio.Future[None]",
        *,
        clock: Callable[[], float] = time.monotonic,
        state: Callable[[Any], ActorState | None] = actor_state,
        look_every: float = _LOOK_EVERY,
    ) -> None:
        self._say = say
        self._ended = ended
        self._clock = clock
        self._state = state
        self._look_every = look_every
        self._looking: dict[Any, asyncio.Task[None]] = {}
        self._counts: dict[Any, DeathCount] = {}
        self._deaths = Recurrence(MOST_DEATHS, DEATHS_WITHIN)
        self._mailboxes: dict[Any, MailboxClient[object, str]] = {}

    def add(self, actor: Watched) -> None:
        """Watch this actor."""
        self._counts[actor.handle] = DeathCount()
        self._mailboxes[actor.handle] = self._watch(actor)

    async def remove(self, handle: Any) -> None:
        """Watch the actor no longer: it is about to be ended."""
        await self._mailboxes.pop(handle).close()
        await self._stop_looking(handle)

    async def close(self) -> None:
        """Stop watching."""
        await asyncio.gather(*(mailbox.close() for mailbox in self._mailboxes.values()))
        await asyncio.gather(*map(self._stop_looking, list(self._looking)))

    def _watch(self, actor: Watched) -> MailboxClient[object, str]:
        lost_at = 0.0

        def on_loss(_unconfirmed: list[object]) -> list[object]:
            nonlocal lost_at
            lost_at = self._clock()
            self._died(actor, self._counts[actor.handle].lost())
            self._look_at(actor)
            return []

        def on_away() -> None:
            self._look_at(actor)
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

    def _look_at(self, actor: Watched) -> None:
        """Ask Ray how often the actor died, until that is settled."""
        if actor.handle not in self._looking or self._looking[actor.handle].done():
            self._looking[actor.handle] = asyncio.create_task(self._settle(actor))

    async def _settle(self, actor: Watched) -> None:
        """Until the actor is alive, and Ray has restarted it once for each death that was counted."""
        count = self._counts[actor.handle]
        for _ in range(_LOOKS):
            found = await in_daemon_thread(partial(self._state, actor.handle))
            if found is not None:
                self._died(actor, count.restarted(found.restarts))
                if found.alive and found.restarts >= count.total:
                    return
            await asyncio.sleep(self._look_every)

    async def _stop_looking(self, handle: Any) -> None:
        if (task := self._looking.pop(handle, None)) is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _died(self, actor: Watched, times: int) -> None:
        """So many deaths were found that were not counted before."""
        now = self._clock()
        too_often = [self._deaths.happened(actor.handle, now) for _ in range(times)]
        if any(too_often):
            self._end(f"{actor.name} died {MOST_DEATHS} times within {DEATHS_WITHIN:g} s")
        elif times and not self._ended.done():
            how_often = "" if times == 1 else f" {times} times"
            said = f"{actor.name} was lost{how_often}; {actor.then}"
            self._say(Notice(said, "actor_lost", actor=actor.name, deaths=times))

    def _end(self, what: str) -> None:
        if not self._ended.done():
            self._ended.set_exception(ActorLost(what))
            self._ended.exception()  # marks it as retrieved: there may be no further call


async def _nothing_to_submit(_messages: Sequence[object]) -> None:
    """A watcher only polls: its client has no message to send."""
