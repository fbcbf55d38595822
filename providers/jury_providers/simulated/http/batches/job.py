"""One simulated batch: it is submitted, and it ends, with all of its answers or with none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

DAY = 86_400.0


class EndOfItem(StrEnum):
    """How the server ended one item."""

    ANSWERED = "answered"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass
class BatchJob:
    """A batch.

    Args:
        label: what the client wrote to find it by; "" where there is no place for it.
        model: of the path or the file; "" where models mix.
        created: seconds since 1970.
        items: where each line begins, in bytes.
        lifetime: seconds until it expires.
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
    seconds: float
    spool: Path
    items: Sequence[int]
    lifetime: float = DAY
    source: str = ""
    refusal: str | None = None
    refused_line: int | None = None
    cancelled_at: float | None = None
    ends: dict[str, int] = field(default_factory=dict)
    """How many items ended in which way, once the results are written."""

    output: Path | None = None
    errors: Path | None = None

    @property
    def expires(self) -> float:
        """Seconds since 1970."""
        return self.created + self.lifetime

    @property
    def ended_at(self) -> float:
        """When it ends."""
        return self.created + self.seconds if self.cancelled_at is None else self.cancelled_at

    def state(self, now: float) -> str:
        """`waiting`, `running`, `cancelling`, or `failed`, `expired`, `cancelled`, `completed`."""
        if now < self.ended_at:
            return "running"
        return "completed" if self.cancelled_at is None else "cancelled"

    def end_of(self, index: int) -> EndOfItem:  # noqa: ARG002  (all of them end alike)
        """How the item at `index` ends, if it is no error of its own."""
        return EndOfItem.ANSWERED if self.cancelled_at is None else EndOfItem.CANCELLED
