"""What providers grant, shared out among the calls of every juror and run. Pure: it is told what time it is.

A permit is a lease: it ends with its call, with its holder, or, should both be lost, with its term.
"""

import heapq
from collections.abc import Callable

from jury_actors.admission.model_queue import Lane, Permit
from jury_actors.admission.permit import Acquire, Departed, Granted, Holder, ModelClass, PermitRequest, Release
from jury_actors.backoff import Backoff
from jury_actors.effects import Effects


class Limiter:
    """Requests and tokens a minute, calls in flight, and a common cool-down, for each class of models.

    One that takes another's place knows nothing of the minute before; the provider tells it soon enough, and the calls
    in flight are registered again by their holders.

    Args:
        backoff: of the cool-down.
        jitter: a number in [0, 1).
    """

    def __init__(self, *, backoff: Backoff = Backoff(), jitter: Callable[[], float] = Effects().jitter) -> None:
        self._backoff = backoff
        self._jitter = jitter
        self._lanes: dict[ModelClass, Lane] = {}
        self._waiting: dict[Holder, PermitRequest] = {}
        self._held: dict[Holder, Permit] = {}
        self._terms: list[tuple[float, Holder]] = []

    def want(self, client: str, want: Acquire, now: float) -> None:
        """A call is about to be made."""
        holder, claim = Holder(client, want.number), want.claim
        lane = self._lanes.get(claim.model_class)
        if lane is None:
            lane = self._lanes[claim.model_class] = Lane(claim.limits, self._backoff, self._jitter)
        lane.tighten(claim.limits)
        if want.held:
            self._lease(holder, lane.begin(claim, now), now)
        else:
            self._waiting[holder] = claim
            lane.wait_for(holder, claim)

    def sent(self, client: str, sent: Departed, now: float) -> None:
        """A call that was granted is being made."""
        permit = self._held.get(Holder(client, sent.number))
        if permit is not None:
            self._lane(permit.claim).sent(permit, now)

    def back(self, client: str, back: Release, now: float) -> None:
        """A call is over, or will not be made."""
        holder = Holder(client, back.number)
        permit = self._held.pop(holder, None)
        if permit is not None:
            self._lane(permit.claim).end(permit, back.settlement, now)
        elif (claim := self._waiting.pop(holder, None)) is not None:
            self._lane(claim).leave(holder, claim)

    def lose(self, client: str, now: float) -> None:
        """A client is gone, with everything that it waited for and held."""
        for holder in [one for one in (*self._waiting, *self._held) if one.client == client]:
            self.back(client, Release(holder.number), now)

    def decided(self, now: float) -> list[tuple[str, Granted]]:
        """The calls that may begin now, by client."""
        while self._terms and self._terms[0][0] <= now:
            holder = heapq.heappop(self._terms)[1]
            self.back(holder.client, Release(holder.number), now)
        found = []
        for lane in self._lanes.values():
            while (granted := lane.next(now)) is not None:
                holder, permit = granted
                del self._waiting[holder]
                self._lease(holder, permit, now)
                found.append((holder.client, Granted(holder.number)))
        return found

    def look_at(self) -> float | None:
        """When something may be decided though nothing is told; None: never."""
        times = [lane.look_at for lane in self._lanes.values() if lane.look_at is not None]
        if self._terms:
            times.append(self._terms[0][0])
        return min(times, default=None)

    def in_flight(self, model_class: ModelClass) -> tuple[int, int]:
        """How many calls of a class run, and how many may."""
        return self._lanes[model_class].in_flight

    def _lease(self, holder: Holder, permit: Permit, now: float) -> None:
        self._held[holder] = permit
        heapq.heappush(self._terms, (now + permit.claim.term, holder))

    def _lane(self, claim: PermitRequest) -> Lane:
        return self._lanes[claim.model_class]
