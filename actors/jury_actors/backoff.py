"""Waits before retries: exponential with full jitter, at least the provider's Retry-After, capped."""

from typing import NamedTuple


class Backoff(NamedTuple):
    """Seconds. Attempt n + 1 waits up to base · 2ⁿ⁻¹, and at least a provider's Retry-After; both at most `cap`."""

    base: float = 1.0
    cap: float = 60.0

    def delay(self, attempt: int, *, jitter: float, retry_after: float | None) -> float:
        """The wait before `attempt` (from 2), with `jitter` in [0, 1)."""
        wait = jitter * min(self.cap, self.base * 2.0 ** (attempt - 2))
        return max(wait, min(retry_after or 0.0, self.cap))
