"""Divides what providers allow among the calls of every juror and run. Pure: the time is an argument.

A permit is a lease: it ends with its call, with its client, or, if both are lost, with its term.
"""

import heapq
from collections.abc import Callable

from jury_actors.admission.model_queue import Lease, ModelQueue
from jury_actors.admission.permit import Acquire, Departed, Grant, ModelClass, PermitHolder, PermitRequest, Release
from jury_actors.backoff import Backoff
from jury_actors.effects import Effects


class Limiter:
    """Requests and tokens a minute, calls in flight, and a common cool-down, for each class of models.

    A successor knows nothing of the minute before: overload errors correct it, and the calls in flight are registered
    again by their clients.

    Args:
        backoff: of the cool-down.
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
