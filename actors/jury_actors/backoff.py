"""How long to wait before a call is tried again: full jitter, and what the provider asked for, capped."""

from typing import NamedTuple


class Backoff(NamedTuple):
    """Seconds. Try n + 1 waits up to base · 2ⁿ⁻¹, at most `cap`; a provider's Retry-After is kept, up to the cap."""

    base: float = 1.0
    cap: float = 60.0

    def delay(self, attempt: int, *, jitter: float, retry_after: float | None) -> float:
        """Before `attempt` (from 2), with `jitter` in [0, 1)."""
        wait = jitter * min(self.cap, self.base * 2.0 ** (attempt - 2))
        return max(wait, min(retry_after or 0.0, self.cap))
