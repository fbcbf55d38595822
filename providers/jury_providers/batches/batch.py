"""A batch before it is sent, as the provider knows it, and how far it is."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class BatchAccount(NamedTuple):
    """Whose batches are seen: another account, or another server, does not know this one's.

    `address`: the protocol and the base URL. `key`: a digest of the API key, from which the key cannot be found; a new
    key of the same account has another.
    """

    address: str
    key: str


class PreparedBatch(NamedTuple):
    """A batch that may be sent.

    Args:
        nonce: of letters and digits, at most 40; drawn once for this batch, and written where the provider lists it.
        model: the provider's own id; where models mix, that of the first item.
        items: how many calls.
        size: bytes of the spool.
        spool: the items' lines, in order, each ended by a line feed.
        sent_after: a time of the provider's own clock before anything was sent; None: it did not say.
    """

    nonce: str
    model: str
    items: int
    size: int
    spool: Path
    sent_after: datetime | None


class SubmittedBatch(NamedTuple):
    """A batch that the provider has.

    `certain` is False for one that was found by time and count alone: it may be another's, which only the ids in its
    results show. `expires_at`: when the provider ends it, None: it does not say.
    """

    batch_id: str
    created_at: datetime | None = None
    expires_at: datetime | None = None
    certain: bool = True


class BatchStatus(StrEnum):
    """WAITING: accepted, not begun. RUNNING. CANCELLING: what has begun may be answered still. ENDED: nothing follows.

    An ended batch may have results of some calls and none of others, whatever the provider calls its end.
    """

    WAITING = "waiting"
    RUNNING = "running"
    CANCELLING = "cancelling"
    ENDED = "ended"


class BatchCounts(NamedTuple):
    """Calls of a batch, as the provider counts them; some count them at its end only. None: not said."""

    total: int | None = None
    answered: int | None = None
    failed: int | None = None
    cancelled: int | None = None
    expired: int | None = None


class RefusedLine(NamedTuple):
    """A line of the spool, from 1, because of which the provider refused the whole batch."""

    number: int
    message: str


class BatchState(NamedTuple):
    """How far a batch is.

    Args:
        status: what follows from it.
        result_files: ids of the files with its results, those with answers first; () where there are none, or the
            results need no id.
        error: one line, where the provider gives a reason for the end of the whole batch.
        refused_lines: those that the provider names as the reason.
        failed: it ended as a whole, for a reason of its own and not item by item.
    """

    status: BatchStatus
    word: str
    counts: BatchCounts = BatchCounts()
    result_files: tuple[str, ...] = ()
    error: str | None = None
    refused_lines: tuple[RefusedLine, ...] = ()
    expires_at: datetime | None = None
    ended_at: datetime | None = None
    created_at: datetime | None = None
    failed: bool = False
