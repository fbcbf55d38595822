"""How fast one class of models is called: amounts a minute, and an adaptive number of calls in flight."""

from collections import deque
from math import inf

MINUTE = 60.0

ON_THE_WAY = 2.0
"""Seconds that a call may take to the server that counts it."""

FIRST_IN_FLIGHT = 8
"""Calls at once before anything is known of the provider."""


class Amount:
    """An amount in a window, which may be corrected later; `until` None: its call has not departed."""

    __slots__ = ("amount", "counted", "until")

    def __init__(self, amount: int) -> None:
        self.amount = amount
        self.until: float | None = None
        self.counted = True


class RateWindow:
    """At most `limit` in any 60 seconds (None: no limit). An amount above the limit itself waits for an empty one.

    The server counts a call when it arrives: an amount is counted from its grant until 60 seconds after its call
    departed, plus the time that it may have been on the way.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._departed: deque[Amount] = deque()
        self._sum = 0

    def free_at(self, amount: int, now: float) -> float:
        """When `amount` fits: `now`, or later; infinity: not before a granted call departs."""
        if self.limit is None:
            return now
        while self._departed and _until(self._departed[0]) <= now:
            gone = self._departed.popleft()
            gone.counted = False
            self._sum -= gone.amount
        excess = self._sum + min(amount, self.limit) - self.limit
        free_at = now
        for taken in self._departed:
            if excess <= 0:
                break
            excess -= taken.amount
            free_at = _until(taken)
        return free_at if excess <= 0 else inf

    def take(self, amount: int) -> Amount:
        """Count an amount."""
        taken = Amount(amount)
        self._sum += amount
        return taken

    def depart(self, taken: Amount, now: float) -> None:
        """Its call departed; only the first time counts."""
        if taken.until is None:
            taken.until = now + MINUTE + ON_THE_WAY
            self._departed.append(taken)

    def correct(self, taken: Amount, amount: int) -> None:
        """It was `amount` instead."""
        if taken.counted:
            self._sum += amount - taken.amount
        taken.amount = amount


def _until(taken: Amount) -> float:
    assert taken.until is not None
    return taken.until


class InFlight:
    """Calls at once: one more for every `size` in a row that succeeded, half when the provider is overloaded (AIMD).

    Before the first overload, one more for every call that succeeded: twice as many each round (slow start).
    """

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.size = min(FIRST_IN_FLIGHT, cap)
        self.running = 0
        self._successes = 0
        self._overloaded = False

    @property
    def full(self) -> bool:
        """Whether no further call may begin."""
        return self.running >= min(self.size, self.cap)

    def succeeded(self) -> None:
        """A call that still counts as running did; only a full window says that it can grow."""
        if not self.full:
            return
        self._successes += 1
        if not self._overloaded or self._successes >= self.size:
            self._successes = 0
            self.size = min(self.size + 1, self.cap)

    def halve(self) -> None:
        """The provider is overloaded."""
        self._overloaded = True
        self.size = max(1, min(self.size, self.cap) // 2)
        self._successes = 0
