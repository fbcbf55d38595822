"""One call of a batch: the line that asks for it, and the line that answers."""

import re
from enum import StrEnum
from typing import NamedTuple

CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as the id of an item; it must be unique in its batch."""


class BatchItem(NamedTuple):
    """A call as its batch sends it: `line` is the item's whole JSON, without the end of line.

    It is known before anything is sent, so that its size and digest can be recorded first.
    """

    custom_id: str
    line: bytes


class ItemEnd(StrEnum):
    """How one call of a batch ended.

    ANSWERED: a model's response, which may be one that a live call too would not count as an answer (truncated,
    blocked). ERRORED: the provider's error for this call alone. CANCELLED and EXPIRED: it was not computed, and is not
    billed. UNREADABLE: the line says nothing of any call; `BatchLine.custom_id` may be None.
    """

    ANSWERED = "answered"
    ERRORED = "errored"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    UNREADABLE = "unreadable"


class BatchLine(NamedTuple):
    """A line of a batch's results.

    Args:
        number: from 1, counted over all files of results in their order.
        custom_id: as the provider says; it may name no item of the batch, or one that another line has named.
        end: how the call ended.
        response: the bytes of the model's response, or of the provider's error, as they stand in the line; None where
            there is neither.
        error: one line, where `end` is not ANSWERED.
        status: HTTP's, as the provider reports it or as its error means; 200 for a response.
        request_id: the provider's, if it names one.
    """

    number: int
    custom_id: str | None
    end: ItemEnd
    response: bytes | None = None
    error: str | None = None
    status: int = 200
    request_id: str | None = None
    simulated: bool = False
