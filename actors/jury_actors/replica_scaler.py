"""Replicas of jurors: how many, on which nodes, started and ended.

Nodes have jurors in proportion to their CPUs, and every seat has equally many. Where a node joined, jurors are moved to
it: one is started there and one is retired elsewhere, so that no more run than the cluster can serve.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from jury_actors.background import in_daemon_thread
from jury_actors.coordinator import Coordinators
from jury_actors.errors import ClusterLost
from jury_actors.juror_client import replica_name
from jury_actors.mailbox import IncarnationLost
from jury_actors.notices import Notice, Say, say_nothing

PATIENCE = 12
"""Looks at the cluster within which the jurors of a node should have started."""


class NodeArrivals:
    """Nodes that joined, until their jurors have started."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = set(known)
        self._waiting: dict[str, int] = {}

    def look(
        self,
        names: Mapping[str, str],
        cpus: Mapping[str, float],
        jurors: Mapping[str, int],
        starting: Mapping[str, int],
    ) -> list[Notice]:
        """The lines that are due.

        Args:
            names: of the nodes that can run jurors, by id.
            starting: how many were started on each, and are not alive yet.
        """
        for node in set(names) - self._known:
            self._waiting[node] = 0
        self._known |= set(names)
        said = []
        for node in [node for node in self._waiting if node not in names]:
            del self._waiting[node]  # it left again
        for node in sorted(self._waiting):
            self._waiting[node] += 1
            if starting.get(node) and self._waiting[node] < PATIENCE:
                continue
            del self._waiting[node]
            here, total = jurors.get(node, 0), sum(jurors.values()) + sum(starting.values())
            line = f"the node {names[node]} joined: {_got(here, total, starting.get(node, 0), offers=node in cpus)}"
            said.append(Notice(line, "node_joined", node=names[node], jurors=here))
        return said


def _got(here: int, total: int, starting: int, *, offers: bool) -> str:
    if here:
        more = f", {starting} more are starting" if starting else ""
        return f"it has {here} of {total} juror processes{more}"
    if starting:
        return f"none of its {starting} juror processes has started yet; Ray's logs on that node say why"
    if not offers:
        return "it gets no juror process, because it offers Ray no CPU (ray start --num-cpus)"
    return (
        f"it gets no juror process, because the {total} of this run are on nodes with more CPUs for each of them; "
        "a larger --replicas starts more"
    )


class Placed(NamedTuple):
    """A juror process that new debates may use: the index of its seat; its node, None while that is not known."""

    name: str
    seat: int
    node: str | None


class Plan(NamedTuple):
    """What is to be done: `start` a juror of this seat on this node; `retire` the jurors of these names."""

    start: Sequence[tuple[int, str]]
    retire: Sequence[str]


def shares(cpus: Mapping[str, float], jurors: int, present: Mapping[str, int] | None = None) -> dict[str, int]:
    """How many jurors each node gets: one after the other goes to the node with the fewest for its CPUs.

    Args:
        cpus: of each node, more than 0.
        present: on each node now; of nodes that are equal otherwise, those that have jurors keep them.
    """
    had = present or {}
    found = dict.fromkeys(cpus, 0)
    for _ in range(jurors if cpus else 0):
        node = min(cpus, key=lambda one: ((found[one] + 1) / cpus[one], found[one] >= had.get(one, 0), one))
        found[node] += 1
    return found


def plan(cpus: Mapping[str, float], jurors: Sequence[Placed], seats: int, each: int) -> Plan:
    """How to come from these jurors to `each` a seat, with its share on each node, by the fewest moves.

    Args:
        cpus: of each node that may have jurors, more than 0.
        jurors: those that are there, oldest first. One whose node is not known is counted, and left alone.
    """
    if not cpus:
        return Plan((), ())
    present = Counter(one.node for one in jurors if one.node in cpus)
    unknown = sum(one.node is None for one in jurors)
    wanted = shares(cpus, max(0, seats * each - unknown), {str(node): count for node, count in present.items()})
    planned = _Planned(jurors, seats)
    for node in sorted({one.node for one in jurors if one.node is not None}):
        for _ in range(planned.on(node) - wanted.get(node, 0)):
            planned.retire(node)
    for node in cpus:
        for _ in range(wanted[node] - planned.on(node)):
            planned.start(node)
    planned.level(each)
    return Plan(planned.started, planned.retired)


class _Planned:
    def __init__(self, jurors: Sequence[Placed], seats: int) -> None:
        self._jurors = list(jurors)
        self._seats = Counter(dict.fromkeys(range(seats), 0))
        self._seats.update(one.seat for one in jurors)
        self._here = Counter((one.node, one.seat) for one in jurors)
        self.started: list[tuple[int, str]] = []
        self.retired: list[str] = []

    def on(self, node: str) -> int:
        """How many jurors are on a node."""
        return sum(self._here[node, seat] for seat in self._seats)

    def retire(self, node: str) -> None:
        """The youngest on a node, of the seat that has the most."""
        seats = {one.seat for one in self._jurors if one.node == node}
        self._retire(node, max(seats, key=lambda seat: (self._seats[seat], self._here[node, seat], seat)))

    def start(self, node: str) -> None:
        """One on a node, of the seat that has the fewest."""
        seat = min(self._seats, key=lambda seat: (self._seats[seat], self._here[node, seat], seat))
        self.started.append((seat, node))
        self._seats[seat] += 1
        self._here[node, seat] += 1

    def level(self, each: int) -> None:
        """Let no seat have fewer than `each`: it gets a juror where one of a seat that has more is retired."""
        while min(self._seats.values()) < each:
            crowded = [one for one in self._jurors if one.node is not None and self._seats[one.seat] > each]
            if not crowded:
                return
            node = str(crowded[-1].node)
            self._retire(node, crowded[-1].seat)
            self.start(node)

    def _retire(self, node: str, seat: int) -> None:
        one = next(one for one in reversed(self._jurors) if (one.node, one.seat) == (node, seat))
        self._jurors.remove(one)
        self.retired.append(one.name)
        self._seats[seat] -= 1
        self._here[node, seat] -= 1


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
    """How many replicas a seat gets: together about a juror process for each CPU, since each uses one at most."""
    return min(MOST, max(1, round(cpus / seats)))


class ReplicaScaler:
    """Starts and ends replicas as the cluster grows and shrinks, and moves them to nodes that joined.

    A replica is used once it is alive. One that is replaced, or one too many, serves its debates to the end.

    Args:
        seats: of the panel; None for the final judge.
        start: starts the replica of this name for the seat of this index on this node.
        look: at the cluster, and at the jurors of these names; may block for long.
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
        """Start as many replicas as the cluster can serve now; they are used at once."""
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
        """Adapt number and places of the replicas once."""
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
