"""How many calls of a model may be open and how fast they start: queues, windows of rates, permits.

A permit is a lease: it ends with its call, with its client, or, if both are lost, with its term.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable
from math import inf, isfinite
from typing import NamedTuple

from jury_actors.admission.permit import (
    Acquire,
    Departed,
    Grant,
    ModelClass,
    PermitHolder,
    PermitRequest,
    Release,
    Settlement,
)
from jury_actors.effects import Backoff, Effects
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Limits

MINUTE = 60.0

ON_THE_WAY = 2.0
"""Seconds that a call may take to the server that counts it."""

FIRST_IN_FLIGHT = 8
"""Calls at once before anything is known of the provider."""


class Amount:
    """An amount in a window, which may be corrected later; `until` None: its call has not departed."""

    __slots__ = ("amount", "counted", "until")

    def __init__(self, amount: int) -> None:
        self.amount = amount
        self.until: float | None = None
        self.counted = True


class RateWindow:
    """At most `limit` in any 60 seconds (None: no limit). An amount above the limit itself waits for an empty one.

    The server counts a call when it arrives: an amount is counted from its grant until 60 seconds after its call
    departed, plus the time that it may have been on the way.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._departed: deque[Amount] = deque()
        self._sum = 0

    def free_at(self, amount: int, now: float) -> float:
        """When `amount` fits: `now`, or later; infinity: not before a granted call departs."""
        if self.limit is None:
            return now
        while self._departed and _until(self._departed[0]) <= now:
            gone = self._departed.popleft()
            gone.counted = False
            self._sum -= gone.amount
        excess = self._sum + min(amount, self.limit) - self.limit
        free_at = now
        for taken in self._departed:
            if excess <= 0:
                break
            excess -= taken.amount
            free_at = _until(taken)
        return free_at if excess <= 0 else inf

    def take(self, amount: int) -> Amount:
        """Count an amount."""
        taken = Amount(amount)
        self._sum += amount
        return taken

    def depart(self, taken: Amount, now: float) -> None:
        """Its call departed; only the first time counts."""
        if taken.until is None:
            taken.until = now + MINUTE + ON_THE_WAY
            self._departed.append(taken)

    def correct(self, taken: Amount, amount: int) -> None:
        """It was `amount` instead."""
        if taken.counted:
            self._sum += amount - taken.amount
        taken.amount = amount


def _until(taken: Amount) -> float:
    assert taken.until is not None
    return taken.until


class InFlight:
    """Calls at once: one more for every `size` in a row that succeeded, half when the provider is overloaded (AIMD).

    Before the first overload, one more for every call that succeeded: twice as many each round (slow start).
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.size = min(FIRST_IN_FLIGHT, cap)
        self.running = 0
        self._successes = 0
        self._overloaded = False

    @property
    def full(self) -> bool:
        """Whether no further call may begin."""
        return self.running >= min(self.size, self.cap)

    def succeeded(self) -> None:
        """A call that still counts as running did; only a full window says that it can grow."""
        if not self.full:
            return
        self._successes += 1
        if not self._overloaded or self._successes >= self.size:
            self._successes = 0
            self.size = min(self.size + 1, self.cap)

    def halve(self) -> None:
        """The provider is overloaded."""
        self._overloaded = True
        self.size = max(1, min(self.size, self.cap) // 2)
        self._successes = 0


_OVERLOADED = frozenset({CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED})

_FIRST_OUTPUT = 500.0
"""Tokens of an answer before one was seen."""

_LATEST_WEIGHS = 0.1
"""Of the moving average of answers."""


class Lease(NamedTuple):
    """A call under way, with what was counted for it."""

    request: PermitRequest
    began: float
    requests: Amount
    tokens: Amount


class ModelQueue:
    """The run with the fewest calls under way is next, of several the one that has waited longest for its turn.

    So a small run gets its share of the slots at once, however many calls of a large one are under way (max-min
    fairness). The calls of a run begin in order, and no call overtakes a large one of its run that waits for room.

    Args:
        backoff: how long every call waits after an overload.
        jitter: a number in [0, 1).
    """

    def __init__(self, limits: Limits, backoff: Backoff, jitter: Callable[[], float]) -> None:
        self._backoff = backoff
        self._jitter = jitter
        self._in_flight = InFlight(limits.in_flight)
        self._requests = RateWindow(limits.requests_per_minute)
        self._tokens = RateWindow(limits.tokens_per_minute)
        self._queues: dict[str, deque[tuple[PermitHolder, PermitRequest]]] = {}
        self._turns: deque[str] = deque()
        self._under_way: Counter[str] = Counter()
        self._output = _FIRST_OUTPUT
        self._cooling_since = float("-inf")
        self._cool_at = float("-inf")
        self._overloads = 0
        self.next_at: float | None = None

    @property
    def idle(self) -> bool:
        """Whether no call waits or runs."""
        return not self._turns and not self._in_flight.running

    @property
    def in_flight(self) -> tuple[int, int]:
        """How many run, and how many may."""
        return self._in_flight.running, self._in_flight.size

    def tighten(self, limits: Limits) -> None:
        """Another run may know of stricter limits of the same key: the strictest apply."""
        self._in_flight.cap = min(self._in_flight.cap, limits.in_flight)
        self._requests.limit = _stricter(self._requests.limit, limits.requests_per_minute)
        self._tokens.limit = _stricter(self._tokens.limit, limits.tokens_per_minute)

    def add(self, holder: PermitHolder, request: PermitRequest) -> None:
        """Add a request to the queue of its run."""
        queue = self._queues.get(request.run)
        if queue is None:
            queue = self._queues[request.run] = deque()
            self._turns.append(request.run)
        queue.append((holder, request))

    def remove(self, holder: PermitHolder, request: PermitRequest) -> None:
        """Remove a request from its queue."""
        queue = self._queues[request.run]
        queue.remove((holder, request))
        if not queue:
            del self._queues[request.run]
            self._turns.remove(request.run)

    def begin(self, request: PermitRequest, now: float) -> Lease:
        """Count a call that begins."""
        self._in_flight.running += 1
        self._under_way[request.run] += 1
        return Lease(request, now, self._requests.take(1), self._tokens.take(self._likely(request)))

    def depart(self, lease: Lease, now: float) -> None:
        """The call is being made: its minute begins."""
        self._requests.depart(lease.requests, now)
        self._tokens.depart(lease.tokens, now)

    def next(self, now: float) -> tuple[PermitHolder, Lease] | None:
        """The next call that may begin now; else `next_at` is when one may (None: when another ends or departs)."""
        self.next_at = None
        if not self._turns or self._in_flight.full:
            return None
        run = min(self._turns, key=self._under_way.__getitem__)
        holder, request = self._queues[run][0]
        free_at = max(self._cool_at, self._requests.free_at(1, now), self._tokens.free_at(self._likely(request), now))
        if free_at > now:
            self.next_at = free_at if isfinite(free_at) else None
            return None
        self._turns.remove(run)
        self._turns.append(run)
        self.remove(holder, request)
        return holder, self.begin(request, now)

    def end(self, lease: Lease, settlement: Settlement | None, now: float) -> None:
        """A call is over; without a settlement nothing is known of it. One that did not depart counts from now."""
        self.depart(lease, now)
        if settlement is not None:
            self._learn(lease, settlement, now)
        self._in_flight.running -= 1
        self._under_way[lease.request.run] -= 1
        self._under_way += Counter()  # forgets the runs without a call

    def _learn(self, lease: Lease, settlement: Settlement, now: float) -> None:
        used = settlement.input_tokens, settlement.output_tokens
        if used[1] is not None:
            self._output += _LATEST_WEIGHS * (used[1] - self._output)
            self._tokens.correct(lease.tokens, (used[0] or lease.request.input_tokens) + used[1])
        if settlement.outcome in _OVERLOADED:
            self._cool_down(lease, settlement.retry_after, now)
        elif settlement.outcome is CallOutcome.ANSWERED:
            self._overloads = 0
            self._in_flight.succeeded()

    def _cool_down(self, lease: Lease, retry_after: float | None, now: float) -> None:
        """Every call waits. Calls that began before the cool-down say nothing new of the size: it is halved once."""
        if lease.began > self._cooling_since:
            self._overloads += 1
            self._in_flight.halve()
            self._cooling_since = now
        wait = self._backoff.delay(self._overloads + 1, jitter=self._jitter(), retry_after=retry_after)
        self._cool_at = max(self._cool_at, now + wait)

    def _likely(self, request: PermitRequest) -> int:
        return request.input_tokens + int(self._output)


def _stricter(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


class Limiter:
    """Requests and tokens a minute, calls in flight, and a common cool-down, for each class of models.

    A successor knows nothing of the minute before: overload errors correct it, and the calls in flight are registered
    again by their clients.

    Args:
        jitter: a number in [0, 1).
    """

    def __init__(self, *, backoff: Backoff = Backoff(), jitter: Callable[[], float] = Effects().jitter) -> None:
        self._backoff = backoff
        self._jitter = jitter
        self._queues: dict[ModelClass, ModelQueue] = {}
        self._waiting: dict[PermitHolder, PermitRequest] = {}
        self._leases: dict[PermitHolder, Lease] = {}
        self._terms: list[tuple[float, PermitHolder]] = []

    def acquire(self, client: str, acquire: Acquire, now: float) -> None:
        """See `AdmissionRule`."""
        holder, request = PermitHolder(client, acquire.number), acquire.request
        queue = self._queues.get(request.model_class)
        if queue is None:
            queue = self._queues[request.model_class] = ModelQueue(request.limits, self._backoff, self._jitter)
        queue.tighten(request.limits)
        if acquire.granted:
            self._lease(holder, queue.begin(request, now), now)
        else:
            self._waiting[holder] = request
            queue.add(holder, request)

    def depart(self, client: str, departed: Departed, now: float) -> None:
        """See `AdmissionRule`."""
        lease = self._leases.get(PermitHolder(client, departed.number))
        if lease is not None:
            self._queue(lease.request).depart(lease, now)

    def release(self, client: str, release: Release, now: float) -> None:
        """See `AdmissionRule`."""
        holder = PermitHolder(client, release.number)
        lease = self._leases.pop(holder, None)
        if lease is not None:
            self._queue(lease.request).end(lease, release.settlement, now)
        elif (request := self._waiting.pop(holder, None)) is not None:
            self._queue(request).remove(holder, request)

    def lose(self, client: str, now: float) -> None:
        """See `AdmissionRule`."""
        for holder in [one for one in (*self._waiting, *self._leases) if one.client == client]:
            self.release(client, Release(holder.number), now)

    def decide(self, now: float) -> list[tuple[str, Grant]]:
        """See `AdmissionRule`."""
        while self._terms and self._terms[0][0] <= now:
            holder = heapq.heappop(self._terms)[1]
            self.release(holder.client, Release(holder.number), now)
        found = []
        for queue in self._queues.values():
            while (granted := queue.next(now)) is not None:
                holder, lease = granted
                del self._waiting[holder]
                self._lease(holder, lease, now)
                found.append((holder.client, Grant(holder.number)))
        return found

    def next_decision(self) -> float | None:
        """See `AdmissionRule`."""
        times = [queue.next_at for queue in self._queues.values() if queue.next_at is not None]
        if self._terms:
            times.append(self._terms[0][0])
        return min(times, default=None)

    def in_flight(self, model_class: ModelClass) -> tuple[int, int]:
        """How many calls of a class run, and how many may."""
        return self._queues[model_class].in_flight

    def _lease(self, holder: PermitHolder, lease: Lease, now: float) -> None:
        self._leases[holder] = lease
        heapq.heappush(self._terms, (now + lease.request.term, holder))

    def _queue(self, request: PermitRequest) -> ModelQueue:
        return self._queues[request.model_class]
