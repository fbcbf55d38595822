"""A mailbox before a limiter or a budget: claims come in batches, one long poll a client brings what is decided.

The same class serves in one process and in a Ray actor.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from jury_actors.admission.permit import Acquire, Departed, Granted, Release
from jury_actors.mailbox import Outbox
from jury_actors.messages import Delivery

BEAT = 5.0
"""Seconds that a poll stays open at most: a client that lives is heard of that often."""

_MISSED = 4
"""Beats after which a client is taken for dead."""

_BATCH = 40
"""Grants in one delivery: those who wait elsewhere are not kept from theirs by one client's many."""


Message = Acquire | Departed | Release
"""What a client tells a desk."""


class Rule(Protocol):
    """What decides on claims: see `Limiter` and `Budget`."""

    def want(self, client: str, want: Acquire, now: float) -> None:
        """A call is about to be made."""
        ...

    def sent(self, client: str, sent: Departed, now: float) -> None:
        """A call that was granted is being made."""
        ...

    def back(self, client: str, back: Release, now: float) -> None:
        """A call is over, or will not be made."""
        ...

    def lose(self, client: str, now: float) -> None:
        """A client is gone."""
        ...

    def decided(self, now: float) -> list[tuple[str, Granted]]:
        """What is decided now, by client."""
        ...

    def look_at(self) -> float | None:
        """When something may be decided though nothing is told."""
        ...


class AdmissionInterface(Protocol):
    """What a desk does for a client, wherever it lives."""

    async def submit(self, client: str, messages: Sequence[Message]) -> None:
        """Take claims, and take claims back, in order; one that is known already changes nothing."""
        ...

    async def poll(self, client: str, life: str, ack: int) -> Delivery[Granted]:
        """What is decided, after what is acknowledged; nothing, when nothing is for a while."""
        ...


class _Client:
    def __init__(self, life: str, linger: float, now: float) -> None:
        self.life = life
        self.outbox: Outbox[Granted] = Outbox(life, linger=linger, batch=_BATCH)
        self.known: set[int] = set()
        self.seen = now


class Desk:
    """Keeps a rule's clients apart, and tells them what it decides.

    Args:
        rule: decides.
        life: names this incarnation. Who knew another one, or was taken for dead, sees that and tells everything again.
        clock: seconds.
        beat: seconds that a poll stays open.
        linger: seconds that what is decided waits for company.
    """

    def __init__(
        self,
        rule: Rule,
        life: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        beat: float = BEAT,
        linger: float = 0.0,
    ) -> None:
        self._rule = rule
        self._life = life
        self._clock = clock
        self._beat = beat
        self._linger = linger
        self._clients: dict[str, _Client] = {}
        self._met = 0
        self._timer: asyncio.TimerHandle | None = None

    async def submit(self, client: str, messages: Sequence[Message]) -> None:
        """See `AdmissionInterface`."""
        it, now = self._client(client), self._clock()
        for message in messages:
            if isinstance(message, Release):
                if message.number in it.known:
                    it.known.discard(message.number)
                    self._rule.back(client, message, now)
            elif isinstance(message, Departed):
                self._rule.sent(client, message, now)
            elif message.number not in it.known:
                it.known.add(message.number)
                self._rule.want(client, message, now)
        self._decide()

    async def poll(self, client: str, life: str, ack: int) -> Delivery[Granted]:
        """See `AdmissionInterface`."""
        it = self._client(client)
        try:
            return await asyncio.wait_for(it.outbox.poll(life, ack), self._beat)
        except TimeoutError:
            return Delivery(it.life, ack, [])
        finally:
            it.seen = self._clock()

    def clients(self) -> int:
        """How many are alive; those that were not heard of are dropped, with everything that they held."""
        now = self._clock()
        for name in [name for name, one in self._clients.items() if one.seen + self._beat * _MISSED < now]:
            del self._clients[name]
            self._rule.lose(name, now)
        self._decide()
        return len(self._clients)

    def close(self) -> None:
        """Decide nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _client(self, name: str) -> _Client:
        it = self._clients.get(name)
        if it is None:
            self._met += 1
            it = self._clients[name] = _Client(f"{self._life}/{self._met}", self._linger, self._clock())
        it.seen = self._clock()
        return it

    def _decide(self) -> None:
        for name, granted in self._rule.decided(self._clock()):
            self._clients[name].outbox.put(granted)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        look_at = self._rule.look_at()
        if look_at is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, look_at - self._clock()), self._decide)
