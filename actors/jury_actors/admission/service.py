"""Serves a limiter or a budget: requests arrive in batches, and one long poll a client returns what is decided.

The same class runs in one process and in a Ray actor.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from jury_actors.admission.permit import Acquire, Departed, Grant, Release
from jury_actors.mailbox import Delivery, Outbox

BEAT = 5.0
"""Seconds that a poll stays open at most; its end shows that the client lives."""

_MISSED = 4
"""Beats without a poll after which a client is taken for dead."""

_BATCH = 40
"""Grants in one delivery: many grants to one client do not delay those of others."""

Message = Acquire | Departed | Release
"""What a client sends."""


class AdmissionRule(Protocol):
    """Decides on requests: see `Limiter` and `BudgetRule`. `now` is in seconds."""

    def acquire(self, client: str, acquire: Acquire, now: float) -> None:
        """A call is about to be made."""
        ...

    def depart(self, client: str, departed: Departed, now: float) -> None:
        """A call that was granted is being made."""
        ...

    def release(self, client: str, release: Release, now: float) -> None:
        """A call is over, or will not be made."""
        ...

    def lose(self, client: str, now: float) -> None:
        """A client is dead."""
        ...

    def decide(self, now: float) -> list[tuple[str, Grant]]:
        """New grants and refusals, by client."""
        ...

    def next_decision(self) -> float | None:
        """When time alone may allow a grant; None: never."""
        ...


class AdmissionInterface(Protocol):
    """What a service does for a client; calls raise `IncarnationLost` when its process died."""

    async def submit(self, client: str, messages: Sequence[Message]) -> None:
        """Take requests and releases, in order; a number that is known already changes nothing."""
        ...

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Grant]:
        """What is decided, see `Outbox.poll`; without items when nothing is for `BEAT` seconds."""
        ...


class _ServedClient:
    def __init__(self, incarnation: str, linger: float, now: float) -> None:
        self.incarnation = incarnation
        self.outbox: Outbox[Grant] = Outbox(incarnation, linger=linger, batch=_BATCH)
        self.known: set[int] = set()
        self.seen = now


class AdmissionService:
    """Keeps a rule's clients apart, and sends them its decisions.

    Args:
        incarnation: clients of another one, or taken for dead, notice the difference and submit everything again.
        clock: seconds.
        beat: seconds that a poll stays open.
        linger: seconds that a decision waits for more.
    """

    def __init__(
        self,
        rule: AdmissionRule,
        incarnation: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        beat: float = BEAT,
        linger: float = 0.0,
    ) -> None:
        self._rule = rule
        self._incarnation = incarnation
        self._clock = clock
        self._beat = beat
        self._linger = linger
        self._clients: dict[str, _ServedClient] = {}
        self._joined = 0
        self._timer: asyncio.TimerHandle | None = None

    async def submit(self, client: str, messages: Sequence[Message]) -> None:
        """See `AdmissionInterface`."""
        it, now = self._client(client), self._clock()
        for message in messages:
            if isinstance(message, Release):
                if message.number in it.known:
                    it.known.discard(message.number)
                    self._rule.release(client, message, now)
            elif isinstance(message, Departed):
                self._rule.depart(client, message, now)
            elif message.number not in it.known:
                it.known.add(message.number)
                self._rule.acquire(client, message, now)
        self._decide()

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Grant]:
        """See `AdmissionInterface`."""
        it = self._client(client)
        try:
            return await asyncio.wait_for(it.outbox.poll(incarnation, ack), self._beat)
        except TimeoutError:
            return Delivery(it.incarnation, ack, [])
        finally:
            it.seen = self._clock()

    def clients(self) -> int:
        """How many are alive; the requests of those that are not are released."""
        now = self._clock()
        for name in [name for name, one in self._clients.items() if one.seen + self._beat * _MISSED < now]:
            del self._clients[name]
            self._rule.lose(name, now)
        self._decide()
        return len(self._clients)

    def close(self) -> None:
        """Stop deciding."""
        if self._timer is not None:
            self._timer.cancel()

    def _client(self, name: str) -> _ServedClient:
        it = self._clients.get(name)
        if it is None:
            self._joined += 1
            it = self._clients[name] = _ServedClient(f"{self._incarnation}/{self._joined}", self._linger, self._clock())
        it.seen = self._clock()
        return it

    def _decide(self) -> None:
        for name, grant in self._rule.decide(self._clock()):
            self._clients[name].outbox.put(grant)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        decision_at = self._rule.next_decision()
        if decision_at is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, decision_at - self._clock()), self._decide)
