"""On which nodes of a Ray cluster the jurors are. Pure.

Nodes have jurors in proportion to their CPUs, and every seat has equally many. Where a node joined, jurors are moved to
it: one is started there and one is retired elsewhere, so that no more run than the cluster can serve.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple


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
        jurors: in all.
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
        seats: how many there are.
        each: jurors a seat.
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
    """The jurors as they will be."""

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
