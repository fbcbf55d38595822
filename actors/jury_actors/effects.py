"""Clock, randomness and waiting, injected into actors."""

import os
import random
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import NamedTuple

_BLOCK = 4096
_SECOND = 1_000_000
"""Microseconds."""


def _microseconds() -> int:
    return time.time_ns() // 1000


class _Entropy:
    """The system's random bytes, drawn in blocks: a salt is 16 bytes, and there are dozens in a debate."""

    _block = b""
    _at = 0

    def __call__(self, count: int) -> bytes:
        if self._at + count > len(self._block):
            self._block = os.urandom(max(_BLOCK, count))
            self._at = 0
        taken = self._block[self._at : self._at + count]
        self._at += count
        return taken


class Effects(NamedTuple):
    """`clock`: microseconds since 1970 UTC. `entropy`: that many random bytes. `jitter`: a number in [0, 1)."""

    clock: Callable[[], int] = _microseconds
    entropy: Callable[[int], bytes] = _Entropy()
    jitter: Callable[[], float] = random.random


def date_of(clock: int) -> date:
    """The UTC date of a time in microseconds since 1970: every call needs today's."""
    return datetime.fromtimestamp(clock // _SECOND, UTC).date()


class Backoff(NamedTuple):
    """Seconds. Attempt n + 1 waits up to base · 2ⁿ⁻¹, and at least a provider's Retry-After; both at most `cap`."""

    base: float = 1.0
    cap: float = 60.0

    def delay(self, attempt: int, *, jitter: float, retry_after: float | None) -> float:
        """The wait before `attempt` (from 2), with `jitter` in [0, 1)."""
        wait = jitter * min(self.cap, self.base * 2.0 ** (attempt - 2))
        return max(wait, min(retry_after or 0.0, self.cap))
