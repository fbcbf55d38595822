"""How often an actor has died. Pure."""


class DeathCount:
    """The deaths of one actor, counted by what is seen of it.

    A lost connection is one death, seen at once. Ray's number of restarts is exact, but comes later: it also has the
    deaths of successors that died before they answered. A connection that was lost without a death (a network that
    failed for a while) counts too, until the restarts have caught up.

    Attributes:
        total: deaths so far.
    """

    def __init__(self) -> None:
        self.total = 0
        self._losses = 0

    def lost(self) -> int:
        """The connection was lost; returns the deaths that were not counted before."""
        self._losses += 1
        return self._raise_to(self._losses)

    def restarted(self, number: int) -> int:
        """Ray has restarted it `number` times in all; returns the deaths that were not counted before."""
        return self._raise_to(number)

    def _raise_to(self, number: int) -> int:
        new = max(0, number - self.total)
        self.total += new
        return new
