"""What a server of simulated models has served: counts, and nothing of what was said."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Served:
    """Counts requests. `requests` were understood, `refused` were not; places and faults as in a script."""

    def __init__(self) -> None:
        self.requests = 0
        self.refused = 0
        self.in_flight = 0
        self.in_flight_peak = 0
        self.by_place: Counter[str] = Counter()
        self.by_protocol: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()

    @contextmanager
    def one(self) -> Iterator[None]:
        """While a request is in flight."""
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    def understood(self, place: str, protocol: str, fault: str | None) -> None:
        """A request that a model is asked, and what goes wrong with it."""
        self.requests += 1
        self.by_place[place] += 1
        self.by_protocol[protocol] += 1
        if fault is not None:
            self.by_fault[fault] += 1

    def counts(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "requests": self.requests,
            "refused": self.refused,
            "in_flight": self.in_flight,
            "in_flight_peak": self.in_flight_peak,
            "by_place": dict(self.by_place),
            "by_protocol": dict(self.by_protocol),
            "by_fault": dict(self.by_fault),
        }
