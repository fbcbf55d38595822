"""How fast one class of models is called: amounts a minute, and calls in flight that find their own number."""

from collections import deque

MINUTE = 60.0

FIRST_IN_FLIGHT = 8
"""Calls at once before anything is known of the provider."""


class Taken:
    """An amount in a window; it may be corrected later."""

    __slots__ = ("amount", "at")

    def __init__(self, at: float, amount: int) -> None:
        self.at = at
        self.amount = amount


class MinuteWindow:
    """At most `limit` in any 60 seconds (None: no limit). An amount above the limit itself waits for an empty one."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._taken: deque[Taken] = deque()
        self._sum = 0

    def free_at(self, amount: int, now: float) -> float:
        """When `amount` fits: `now`, or later."""
        if self.limit is None:
            return now
        while self._taken and self._taken[0].at + MINUTE <= now:
            self._sum -= self._taken.popleft().amount
        excess = self._sum + min(amount, self.limit) - self.limit
        free_at = now
        for taken in self._taken:
            if excess <= 0:
                break
            excess -= taken.amount
            free_at = taken.at + MINUTE
        return free_at

    def take(self, amount: int, now: float) -> Taken:
        """Count an amount."""
        taken = Taken(now, amount)
        if self.limit is not None:
            self._taken.append(taken)
            self._sum += amount
        return taken

    def correct(self, taken: Taken, amount: int, now: float) -> None:
        """It was `amount` instead."""
        if self.limit is not None and taken.at + MINUTE > now:
            self._sum += amount - taken.amount
        taken.amount = amount


class InFlight:
    """Calls at once: one more for every `size` in a row that went well, half when the provider is overloaded (AIMD).

    Until it was overloaded for the first time, one more for every one that went well: twice as many each round.
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.size = min(FIRST_IN_FLIGHT, cap)
        self.running = 0
        self._well = 0
        self._overloaded = False

    @property
    def full(self) -> bool:
        """Whether no further call may begin."""
        return self.running >= min(self.size, self.cap)

    def went_well(self) -> None:
        """A call that still counts as running did; it says something of the size only where that is in use."""
        if not self.full:
            return
        self._well += 1
        if not self._overloaded or self._well >= self.size:
            self._well = 0
            self.size = min(self.size + 1, self.cap)

    def halve(self) -> None:
        """The provider is overloaded."""
        self._overloaded = True
        self.size = max(1, min(self.size, self.cap) // 2)
        self._well = 0
