"""The coordinator's juror processes: the replicas of each seat, and which of them serves a debate."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from jury_actors.juror_client import JurorClient
from jury_actors.placement import place_of

Replicas = Mapping[str | None, Sequence[str]]
"""The names of the replicas of each seat, by juror id; under None those of the final judge."""


class JurorPool:
    """Clients of the replicas that are used, and of those that still serve debates.

    A seat's steps in a debate go to one replica, so that texts are sent to it once.

    Args:
        replicas: at least one a seat.
        connect: makes the client of a replica.
    """

    def __init__(self, replicas: Replicas, connect: Callable[[str], JurorClient]) -> None:
        self._connect = connect
        self._replicas = {seat: list(names) for seat, names in replicas.items()}
        self._clients = {name: connect(name) for names in self._replicas.values() for name in names}
        self._serving: dict[str, dict[str | None, str]] = {}

    @property
    def clients(self) -> tuple[JurorClient, ...]:
        """The clients of all replicas."""
        return tuple(self._clients.values())

    def juror(self, debate_id: str, juror_id: str | None) -> JurorClient:
        """The client of the replica that serves a seat in a debate, the same until the debate is released."""
        serving = self._serving.setdefault(debate_id, {})
        if juror_id not in serving:
            names = self._replicas[juror_id]
            serving[juror_id] = names[place_of(debate_id, len(names))]
        return self._clients[serving[juror_id]]

    def by_seat(self) -> list[tuple[str | None, list[JurorClient]]]:
        """The clients of each seat's replicas, those included that are drained."""
        names = {seat: dict.fromkeys(used) for seat, used in self._replicas.items()}
        for serving in self._serving.values():
            for seat, name in serving.items():
                names[seat][name] = None
        return [(seat, [self._clients[name] for name in found]) for seat, found in names.items()]

    def stop_steps(self, debate_id: str) -> None:
        """The debate is cancelled: steps of it that no model is answering now end at once, without a call."""
        for name in self._serving.get(debate_id, {}).values():
            self._clients[name].release(debate_id, stop=True)

    def release(self, debate_id: str) -> None:
        """The debate is over: its replicas may forget it."""
        for name in self._serving.pop(debate_id, {}).values():
            self._clients[name].release(debate_id)

    async def use(self, replicas: Replicas) -> frozenset[str]:
        """Use these replicas for debates that begin from now on.

        Others are drained: they serve their debates to the end.

        Args:
            replicas: at least one a seat.

        Returns:
            The names of the replicas that are used or still serve a debate; all others may be ended.
        """
        self._replicas = {seat: list(names) for seat, names in replicas.items()}
        used = {name for names in self._replicas.values() for name in names}
        for name in used - set(self._clients):
            self._clients[name] = self._connect(name)
        used |= {name for serving in self._serving.values() for name in serving.values()}
        for name in set(self._clients) - used:
            await self._clients.pop(name).close()
        return frozenset(used)


def replica_name(seat: int, number: int) -> str:
    """The name of a juror process: the `number`-th replica of the seat with this index."""
    return f"juror-{seat}-{number}"


def replicas_among(names: Iterable[str], seats: Sequence[str | None]) -> dict[str | None, list[str]]:
    """The replicas of each seat among the names of a runtime's processes, in the order of their numbers."""
    found: dict[int, list[int]] = {}
    for name in names:
        kind, _, rest = name.partition("-")
        if kind == "juror":
            seat, _, number = rest.partition("-")
            found.setdefault(int(seat), []).append(int(number))
    return {
        seat: [replica_name(index, number) for number in sorted(found.get(index, ()))]
        for index, seat in enumerate(seats)
    }
