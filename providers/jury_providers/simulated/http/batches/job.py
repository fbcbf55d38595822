"""One simulated batch: its course in time. When each item is answered follows from the clock alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

DAY = 86_400.0
_OVERDUE = 50 * 3600.0
_BEGINS = 0.1
"""The part of a batch's time for which it waits."""


class EndOfItem(StrEnum):
    """How the server ended one item."""

    ANSWERED = "answered"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass
class BatchJob:
    """A batch of one account.

    Args:
        identity: the provider's id.
        account: whose key submitted it.
        label: what the client wrote to find it by; "" where there is no place for it.
        model: of the path or the file; "" where models mix.
        created: seconds since 1970.
        lifetime: seconds until it expires.
        seconds: until its last answer, if it is not ended before.
        faults: names of `JOB_FAULTS`.
        spool: its items' lines.
        items: where each line begins, in bytes.
        source: the file that it was submitted with; "" where the items came with it.
        refusal: why it failed before it began; None: it did not.
        refused_line: the line because of which.
    """

    identity: str
    account: str
    label: str
    model: str
    endpoint: str
    created: float
    lifetime: float
    seconds: float
    cancel_seconds: float
    faults: frozenset[str]
    spool: Path
    items: Sequence[int] = ()
    source: str = ""
    refusal: str | None = None
    refused_line: int | None = None
    cancelled_at: float | None = None
    ends: dict[str, int] = field(default_factory=dict)
    """How many items ended in which way, once the results are written."""

    output: Path | None = None
    errors: Path | None = None
    bodies: tuple[str, ...] = ()
    """Digests of the bodies that were answered."""

    @property
    def expires(self) -> float:
        """Seconds since 1970."""
        return self.created + self.lifetime

    @property
    def finishes(self) -> float:
        """When its last item would be answered if nothing ended it before."""
        if "stuck" in self.faults:
            return math.inf
        if "expired" in self.faults:
            return self.created + 2 * self.lifetime
        return self.created + (_OVERDUE if "overdue" in self.faults else self.seconds)

    @property
    def stops(self) -> float:
        """When no further item is begun."""
        found = [self.finishes]
        if self.cancelled_at is not None:
            found.append(self.cancelled_at)
        if "cancelled" in self.faults:
            found.append(self.created + self.seconds / 2)
        if not {"overdue", "stuck"} & self.faults:
            found.append(self.expires)
        return min(found)

    @property
    def ended_at(self) -> float:
        """When it ends; infinity: never."""
        if self.refusal is not None:
            return self.created
        if "stuck" in self.faults:
            return math.inf
        cancelled = self.cancelled_at is not None and self.stops == self.cancelled_at
        return self.stops + (self.cancel_seconds if cancelled else 0.0)

    def state(self, now: float) -> str:
        """`waiting`, `running`, `cancelling`, or `failed`, `expired`, `cancelled`, `completed`."""
        if now >= self.ended_at:
            return self._end()
        if self.cancelled_at is not None:
            return "cancelling"
        begins = self.created + _BEGINS * (min(self.finishes, self.expires) - self.created)
        return "running" if now >= begins else "waiting"

    def _end(self) -> str:
        if self.refusal is not None:
            return "failed"
        if self.stops == self.finishes:
            return "completed"
        ended_by_client = self.stops == self.cancelled_at or "cancelled" in self.faults
        return "cancelled" if ended_by_client else "expired"

    def end_of(self, index: int) -> EndOfItem:
        """How the item at `index` ends, if it is no error of its own."""
        answered = self.created + (self.finishes - self.created) * (index + 1) / max(1, len(self.items))
        if answered <= self.stops:
            return EndOfItem.ANSWERED
        return EndOfItem.EXPIRED if self._end() == "expired" else EndOfItem.CANCELLED
