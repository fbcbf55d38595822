"""How many juror processes a seat has on a cluster, and on which nodes, while nodes join and leave."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from jury_actors.coordinators import Coordinators
from jury_actors.daemon_thread import in_daemon_thread
from jury_actors.errors import ClusterLost
from jury_actors.juror_pool import replica_name
from jury_actors.mailbox import IncarnationLost
from jury_actors.node_arrivals import NodeArrivals
from jury_actors.node_placement import Placed, Plan, plan
from jury_actors.notices import Notice, Say, say_nothing

EVERY = 5.0
"""Seconds between two looks at the cluster."""

MOST = 64
"""Replicas a seat."""

MOST_TRIES = 6
"""Looks that start jurors while the nodes stay the same: Ray may put jurors elsewhere, or end them, again and again."""


class JurorPlace(NamedTuple):
    """Where a juror process is; `node` is None while it is on its way."""

    node: str | None
    alive: bool


class ClusterView(NamedTuple):
    """The cluster at one moment.

    Attributes:
        cpus: of each node that can run jurors and has any.
        places: of the jurors that were asked for.
        names: the nodes that can run jurors, as users know them.
    """

    cpus: Mapping[str, float]
    places: Mapping[str, JurorPlace] = {}
    names: Mapping[str, str] = {}


def replicas_for(cpus: float, seats: int) -> int:
    """How many replicas a seat gets: together about a juror process for each CPU, since each uses one at most.

    Args:
        cpus: of all nodes.
        seats: of the panel, the final judge included.
    """
    return min(MOST, max(1, round(cpus / seats)))


class ReplicaScaler:
    """Starts and ends replicas as the cluster grows and shrinks, and moves them to nodes that joined.

    A replica is used once it is alive. One that is replaced, or one too many, serves its debates to the end.

    Args:
        seats: of the panel; None for the final judge.
        start: starts the replica of this name for the seat of this index on this node.
        stop: ends the replica of this name.
        look: at the cluster, and at the jurors of these names; may block for long.
        fixed: this number a seat, whatever the cluster has.
        say: takes a line for each node that joined.
    """

    def __init__(
        self,
        seats: tuple[str | None, ...],
        start: Callable[[int, str, str], None],
        stop: Callable[[str], Awaitable[None]],
        look: Callable[[Collection[str]], ClusterView],
        *,
        fixed: int | None = None,
        say: Say = say_nothing,
    ) -> None:
        self._seats = seats
        self._start = start
        self._stop = stop
        self._fixed = fixed
        self._look = look
        self._say = say
        self._running: dict[str, int] = {}
        self._meant: dict[str, str] = {}
        self._starting: set[str] = set()
        self._retired: set[str] = set()
        self._nodes: frozenset[str] = frozenset()
        self._tries = 0

    def start(self, view: ClusterView) -> None:
        """Start as many replicas as the cluster can serve now; they are used at once.

        Raises:
            ClusterLost: no node is alive.
        """
        if not view.cpus:
            raise ClusterLost("none of its nodes is alive")
        self._nodes = frozenset(view.cpus)
        self._arrivals = NodeArrivals(view.names)
        self._do(plan(view.cpus, (), len(self._seats), self._each(view)))
        self._starting.clear()

    async def follow(self, coordinators: Coordinators) -> None:
        """Look at the cluster every few seconds, until cancelled or something unexpected, which is said."""
        try:
            while True:
                await asyncio.sleep(EVERY)
                # Others report a lost cluster; a successor is asked next time.
                with suppress(IncarnationLost, ClusterLost):
                    await self.look(coordinators)
        except Exception as error:  # noqa: BLE001  (debates do not need it: the run goes on with the jurors it has)
            said = f"the nodes of the cluster are followed no longer ({error!r}); the jurors stay where they are"
            self._say(Notice(said, "nodes_not_followed"))

    async def look(self, coordinators: Coordinators) -> None:
        """Adapt number and places of the replicas once.

        Raises:
            IncarnationLost, ClusterLost: a coordinator does not answer.
        """
        view = await in_daemon_thread(partial(self._look, tuple(self._running)))
        before = self._used()
        for name in [name for name in self._starting if self._place(view, name).alive]:
            self._starting.discard(name)
        wanted = self._planned(view)
        self._do(wanted)
        if not self._starting:
            self._retired.update(wanted.retire)
        self._announce(view)
        used = self._used()
        if used == before and not self._retired:
            return
        serving = await coordinators.use_replicas(self._by_seat(used))
        for name in self._retired - serving:
            await self._stop(name)
            del self._running[name]
            del self._meant[name]
        self._retired &= set(self._running)

    def _planned(self, view: ClusterView) -> Plan:
        """What to do now; nothing is started while Ray does not keep to what it was asked before."""
        if not view.cpus:
            return Plan((), ())  # no node is alive: the cluster is about to be lost
        if self._nodes != frozenset(view.cpus):
            self._nodes, self._tries = frozenset(view.cpus), 0
        present = [Placed(name, seat, self._place(view, name).node) for name, seat in self._running.items()]
        present = [one for one in present if one.name not in self._retired]
        found = plan(view.cpus, present, len(self._seats), self._each(view))
        self._tries += bool(found.start)
        return Plan((), ()) if found.start and self._tries > MOST_TRIES else found

    def _do(self, wanted: Plan) -> None:
        for seat, node in wanted.start:
            taken = set(self._running)
            number = next(number for number in range(len(taken) + 1) if replica_name(seat, number) not in taken)
            name = replica_name(seat, number)
            self._start(seat, name, node)
            self._running[name] = seat
            self._meant[name] = node
            self._starting.add(name)

    def _place(self, view: ClusterView, name: str) -> JurorPlace:
        """A juror that was not seen yet is where it was meant to be, if that node is there."""
        meant = self._meant[name]
        return view.places.get(name, JurorPlace(meant if meant in view.cpus else None, alive=False))

    def _each(self, view: ClusterView) -> int:
        return self._fixed or replicas_for(sum(view.cpus.values()), len(self._seats))

    def _used(self) -> set[str]:
        return set(self._running) - self._starting - self._retired

    def _by_seat(self, names: Collection[str]) -> dict[str | None, list[str]]:
        return {
            juror_id: [name for name, seat in self._running.items() if seat == index and name in names]
            for index, juror_id in enumerate(self._seats)
        }

    def _announce(self, view: ClusterView) -> None:
        places = {name: self._place(view, name) for name in self._running if name not in self._retired}
        alive = Counter(str(place.node) for place in places.values() if place.alive)
        starting = Counter(str(place.node) for place in places.values() if not place.alive)
        for line in self._arrivals.look(view.names, view.cpus, alive, starting):
            self._say(line)
