"""Counters of a simulation server; no content is kept."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ServerCounters:
    """Counts requests. `requests` were valid, `refused` were not; steps and faults are named as in a script."""

    def __init__(self) -> None:
        self.requests = 0
        self.refused = 0
        self.in_flight = 0
        self.in_flight_peak = 0
        self.by_step: Counter[str] = Counter()
        self.by_protocol: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count a request as in flight within the context."""
        self.in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1

    def count(self, step: str, protocol: str, fault: str | None) -> None:
        """Count a valid request, and its fault."""
        self.requests += 1
        self.by_step[step] += 1
        self.by_protocol[protocol] += 1
        if fault is not None:
            self.by_fault[fault] += 1

    def counts(self) -> dict[str, Any]:
        """All counters, for JSON."""
        return {
            "requests": self.requests,
            "refused": self.refused,
            "in_flight": self.in_flight,
            "in_flight_peak": self.in_flight_peak,
            "by_step": dict(self.by_step),
            "by_protocol": dict(self.by_protocol),
            "by_fault": dict(self.by_fault),
        }
