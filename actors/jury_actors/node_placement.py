"""On which node of a Ray cluster a juror starts. Pure."""

from collections import Counter
from collections.abc import Mapping


class NodePlacement:
    """Each juror on the node with the fewest jurors for its CPUs.

    Ray's own strategy SPREAD may know a node only some time after it has joined, and would leave it without jurors.
    """

    def __init__(self) -> None:
        self._cpus: Mapping[str, float] = {}
        self._node_of: dict[str, str] = {}

    @property
    def cpus(self) -> float:
        """Of all nodes together."""
        return sum(self._cpus.values())

    def update(self, cpus: Mapping[str, float]) -> None:
        """The nodes that are alive, and the CPUs of each, more than 0; without any the last ones are kept."""
        self._cpus = cpus or self._cpus  # none is alive: the cluster is about to be lost

    def choose(self, juror: str) -> str:
        """The node on which `juror` shall start; it counts there until `remove`."""
        jurors = Counter(self._node_of.values())
        node = min(self._cpus, key=lambda one: ((jurors[one] + 1) / self._cpus[one], one))
        self._node_of[juror] = node
        return node

    def remove(self, juror: str) -> None:
        """It has ended."""
        self._node_of.pop(juror, None)
