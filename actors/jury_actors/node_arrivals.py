"""A line for each node that joined a run's cluster: how many jurors it has, or why none. Pure."""

from collections.abc import Collection, Mapping

from jury_actors.notices import Notice

PATIENCE = 12
"""Looks at the cluster within which the jurors of a node should have started."""


class NodeArrivals:
    """Nodes that joined, until their jurors have started.

    Args:
        known: the nodes that the run began with.
    """

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
            cpus: of those among them that offer any.
            jurors: how many are alive on each node.
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
