"""How fast one class of models is called: amounts a minute, and calls in flight that find their own number."""

from collections import deque
from math import inf

MINUTE = 60.0

ON_THE_WAY = 2.0
"""Seconds that a call may take to the server that counts it: the way of two calls differs by no more."""

FIRST_IN_FLIGHT = 8
"""Calls at once before anything is known of the provider."""


class Taken:
    """An amount in a window, which may be corrected later; `until` None: its call was not sent yet."""

    __slots__ = ("amount", "counted", "until")

    def __init__(self, amount: int) -> None:
        self.amount = amount
        self.until: float | None = None
        self.counted = True


class MinuteWindow:
    """At most `limit` in any 60 seconds (None: no limit). An amount above the limit itself waits for an empty one.

    The server counts a call when it arrives: an amount is counted from its grant, and let go 60 seconds after its call
    was sent, with what it may have been on the way.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._sent: deque[Taken] = deque()
        self._sum = 0

    def free_at(self, amount: int, now: float) -> float:
        """When `amount` fits: `now`, or later; infinity: not before a call that was granted is sent."""
        if self.limit is None:
            return now
        while self._sent and _until(self._sent[0]) <= now:
            gone = self._sent.popleft()
            gone.counted = False
            self._sum -= gone.amount
        excess = self._sum + min(amount, self.limit) - self.limit
        free_at = now
        for taken in self._sent:
            if excess <= 0:
                break
            excess -= taken.amount
            free_at = _until(taken)
        return free_at if excess <= 0 else inf

    def take(self, amount: int) -> Taken:
        """Count an amount."""
        taken = Taken(amount)
        self._sum += amount
        return taken

    def sent(self, taken: Taken, now: float) -> None:
        """Its call was sent; the first word counts."""
        if taken.until is None:
            taken.until = now + MINUTE + ON_THE_WAY
            self._sent.append(taken)

    def correct(self, taken: Taken, amount: int) -> None:
        """It was `amount` instead."""
        if taken.counted:
            self._sum += amount - taken.amount
        taken.amount = amount


def _until(taken: Taken) -> float:
    assert taken.until is not None
    return taken.until


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
