"""How many juror processes a seat has on a cluster, while nodes join and leave."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from jury_actors.coordinators import Coordinators
from jury_actors.daemon_thread import in_daemon_thread
from jury_actors.errors import ClusterLost
from jury_actors.juror_pool import replica_name
from jury_actors.mailbox import IncarnationLost

EVERY = 5.0
"""Seconds between two looks at the cluster."""

MOST = 64
"""Replicas a seat."""


def replicas_for(cpus: float, seats: int) -> int:
    """How many replicas a seat gets: together about a juror process for each CPU, since each uses one at most.

    Args:
        cpus: of all nodes.
        seats: of the panel, the final judge included.
    """
    return min(MOST, max(1, round(cpus / seats)))


class ReplicaScaler:
    """Starts and ends replicas as the cluster grows and shrinks.

    Those that are one too many serve their debates to the end.

    Args:
        seats: of the panel; None for the final judge.
        start: starts the replica of this name for the seat of this index.
        stop: ends the replica of this name.
        cpus: of the cluster, now.
        fixed: this number a seat, whatever the cluster has.
    """

    def __init__(
        self,
        seats: tuple[str | None, ...],
        start: Callable[[int, str], None],
        stop: Callable[[str], Awaitable[None]],
        cpus: Callable[[], float],
        *,
        fixed: int | None = None,
    ) -> None:
        self._seats = seats
        self._start = start
        self._stop = stop
        self._fixed = fixed
        self._cpus = cpus
        self._running: set[str] = set()
        self._wanted: dict[str | None, list[str]] = {}

    def start(self) -> None:
        """Start as many replicas as the cluster can serve now."""
        self._want(self._fixed or replicas_for(self._cpus(), len(self._seats)))

    async def follow(self, coordinators: Coordinators) -> None:
        """Look at the cluster every few seconds, until cancelled. Returns at once where the number is fixed."""
        while self._fixed is None:
            await asyncio.sleep(EVERY)
            with suppress(IncarnationLost, ClusterLost):  # others report a lost cluster; a successor is asked next time
                await self.look(coordinators)

    async def look(self, coordinators: Coordinators) -> None:
        """Adapt the number of replicas once.

        Raises:
            IncarnationLost, ClusterLost: a coordinator does not answer.
        """
        wanted = replicas_for(await in_daemon_thread(self._cpus), len(self._seats))
        used = {name for names in self._wanted.values() for name in names}
        if wanted == len(next(iter(self._wanted.values()))) and used == self._running:
            return
        self._want(wanted)
        serving = await coordinators.use_replicas(self._wanted)
        for name in self._running - serving:
            await self._stop(name)
        self._running &= serving

    def _want(self, replicas: int) -> None:
        self._wanted = {
            seat: [replica_name(index, number) for number in range(replicas)] for index, seat in enumerate(self._seats)
        }
        for index, names in enumerate(self._wanted.values()):
            for name in names:
                if name not in self._running:
                    self._start(index, name)
                    self._running.add(name)
