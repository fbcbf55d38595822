"""The calls of one class of models: who waits, who is next, and when the next one may begin."""

from collections import deque
from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

from jury_actors.admission.permit import Holder, PermitRequest, Settlement
from jury_actors.admission.rate_window import InFlight, MinuteWindow, Taken
from jury_actors.backoff import Backoff
from jury_actors.providers.endpoints import Limits
from jury_events.outcome import CallOutcome

_OVERLOADED = frozenset({CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED})

_FIRST_OUTPUT = 500.0
"""Tokens of an answer before one was seen."""

_LATEST_WEIGHS = 0.1
"""Of the moving average of answers."""


class Permit(NamedTuple):
    """A call under way, with what was counted for it."""

    claim: PermitRequest
    began: float
    request: Taken
    tokens: Taken


class Lane:
    """Runs take turns, the calls of a run are served in order, and nobody overtakes a large one that waits for room.

    Args:
        limits: what the provider grants.
        backoff: how long everybody waits after an overload.
        jitter: a number in [0, 1).
    """

    def __init__(self, limits: Limits, backoff: Backoff, jitter: Callable[[], float]) -> None:
        self._backoff = backoff
        self._jitter = jitter
        self._in_flight = InFlight(limits.in_flight)
        self._requests = MinuteWindow(limits.requests_per_minute)
        self._tokens = MinuteWindow(limits.tokens_per_minute)
        self._queues: dict[str, deque[tuple[Holder, PermitRequest]]] = {}
        self._turns: deque[str] = deque()
        self._output = _FIRST_OUTPUT
        self._cooling_since = float("-inf")
        self._cool_at = float("-inf")
        self._overloads = 0
        self.look_at: float | None = None

    @property
    def idle(self) -> bool:
        """Whether nobody waits, and nothing runs."""
        return not self._turns and not self._in_flight.running

    @property
    def in_flight(self) -> tuple[int, int]:
        """How many run, and how many may."""
        return self._in_flight.running, self._in_flight.size

    def tighten(self, limits: Limits) -> None:
        """Another run may know of stricter limits of the same key: the strictest hold."""
        self._in_flight.cap = min(self._in_flight.cap, limits.in_flight)
        self._requests.limit = _stricter(self._requests.limit, limits.requests_per_minute)
        self._tokens.limit = _stricter(self._tokens.limit, limits.tokens_per_minute)

    def wait_for(self, holder: Holder, claim: PermitRequest) -> None:
        """Queue up."""
        queue = self._queues.get(claim.run)
        if queue is None:
            queue = self._queues[claim.run] = deque()
            self._turns.append(claim.run)
        queue.append((holder, claim))

    def leave(self, holder: Holder, claim: PermitRequest) -> None:
        """Give up a place in the queue."""
        queue = self._queues[claim.run]
        queue.remove((holder, claim))
        if not queue:
            del self._queues[claim.run]
            self._turns.remove(claim.run)

    def begin(self, claim: PermitRequest, now: float) -> Permit:
        """Count a call that begins."""
        self._in_flight.running += 1
        return Permit(claim, now, self._requests.take(1), self._tokens.take(self._likely(claim)))

    def sent(self, permit: Permit, now: float) -> None:
        """The call leaves: its minute begins."""
        self._requests.sent(permit.request, now)
        self._tokens.sent(permit.tokens, now)

    def next(self, now: float) -> tuple[Holder, Permit] | None:
        """The next call that may begin now; else `look_at` says when to look again (None: when one ends or is sent)."""
        self.look_at = None
        if not self._turns or self._in_flight.full:
            return None
        run = self._turns[0]
        holder, claim = self._queues[run][0]
        free_at = max(self._cool_at, self._requests.free_at(1, now), self._tokens.free_at(self._likely(claim), now))
        if free_at > now:
            self.look_at = free_at if isfinite(free_at) else None
            return None
        self._turns.rotate(-1)
        self.leave(holder, claim)
        return holder, self.begin(claim, now)

    def end(self, permit: Permit, settlement: Settlement | None, now: float) -> None:
        """A call is over; without a settlement nothing is known of it. One that was not said to be sent counts now."""
        self.sent(permit, now)
        if settlement is not None:
            self._learn(permit, settlement, now)
        self._in_flight.running -= 1

    def _learn(self, permit: Permit, settlement: Settlement, now: float) -> None:
        used = settlement.input_tokens, settlement.output_tokens
        if used[1] is not None:
            self._output += _LATEST_WEIGHS * (used[1] - self._output)
            self._tokens.correct(permit.tokens, (used[0] or permit.claim.input_tokens) + used[1])
        if settlement.outcome in _OVERLOADED:
            self._cool_down(permit, settlement.retry_after, now)
        elif settlement.outcome is CallOutcome.ANSWERED:
            self._overloads = 0
            self._in_flight.went_well()

    def _cool_down(self, permit: Permit, retry_after: float | None, now: float) -> None:
        """Everybody waits. Calls that began before say nothing new of the size: it is halved once a cool-down."""
        if permit.began > self._cooling_since:
            self._overloads += 1
            self._in_flight.halve()
            self._cooling_since = now
        wait = self._backoff.delay(self._overloads + 1, jitter=self._jitter(), retry_after=retry_after)
        self._cool_at = max(self._cool_at, now + wait)

    def _likely(self, claim: PermitRequest) -> int:
        return claim.input_tokens + int(self._output)


def _stricter(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
