"""The calls of one class of models: which ones wait, which one is next, and when it may begin."""

from collections import Counter, deque
from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

from jury_actors.admission.permit import PermitHolder, PermitRequest, Settlement
from jury_actors.admission.rate_window import Amount, InFlight, RateWindow
from jury_actors.backoff import Backoff
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Limits

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
        limits: what the provider allows.
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
