"""The interface of batches: what is sent and how far it is, lines of results, limits, errors."""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from jury_events.outcome import CallOutcome
from jury_providers.catalogue import batch_facts
from jury_providers.endpoints import ApiProtocol
from jury_providers.errors import ProviderError
from jury_providers.provider import ModelReply, ModelRequest


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


class BatchFailure(ProviderError):
    """A call about a batch failed; the message is one line with the provider's reason.

    `outcome` is what it means, as of a model call. `retry_after` in seconds, None: the provider does not say.
    `may_have_arrived`: whether the provider may have done what was asked all the same.
    `refused_lines`: those of the spool that the provider names as the reason for which it refused a submission.
    """

    def __init__(
        self,
        message: str,
        outcome: CallOutcome,
        *,
        retry_after: float | None = None,
        may_have_arrived: bool = False,
        refused_lines: tuple[RefusedLine, ...] = (),
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.retry_after = retry_after
        self.may_have_arrived = may_have_arrived
        self.refused_lines = refused_lines


class BatchUnavailable(BatchFailure):
    """The provider cannot now: a lost connection, a timeout, an overload, a rate limit. It may be asked again later.

    A submission that `may_have_arrived` is looked for (`BatchProvider.find`) before it is repeated.
    """


class BatchRefused(BatchFailure):
    """The provider says no, and would say it again: a bad key, an exhausted quota, an invalid request."""


class BatchNotFound(BatchRefused):
    """The provider does not know the batch or its file: another account's, another server's, or no longer kept."""


class BatchLimits(NamedTuple):
    """Of one batch.

    Args:
        size: bytes at most of the lines together, each with its line feed.
        models_mix: whether one batch may ask several models.
        found_by_nonce: whether a batch is found by its nonce in the provider's list; else by time and count alone.
        kept_hours: for which its results can be read after they are there.
        expires_hours: after which the provider ends it.
    """

    items: int
    size: int
    models_mix: bool
    found_by_nonce: bool
    kept_hours: int
    expires_hours: int


def batch_limits(protocol: ApiProtocol) -> BatchLimits:
    """The limits of the provider's own servers; another server may have others."""
    return BatchLimits(**batch_facts(protocol))


class BatchProvider(ABC):
    """The batches of one account at one server, used by one process and one event loop.

    `limits`: of one batch. Every call that asks the provider raises `BatchFailure`: `BatchUnavailable` may be tried
    again later, `BatchRefused` may not, `BatchNotFound` means that it is not there.
    """

    limits: BatchLimits

    @abstractmethod
    def account(self) -> BatchAccount:
        """Whose batches these are, without a secret."""

    @property
    @abstractmethod
    def time(self) -> datetime | None:
        """Of the provider's own clock, as of its last answer; None: that did not say.

        This machine's clock may be wrong, or leap: how old a batch is, and whether one was created when this one was
        sent, is read from the provider's alone.
        """

    @abstractmethod
    async def ask_time(self) -> datetime | None:
        """`time` after a question about nothing; None also where there was no answer."""

    @abstractmethod
    def supports(self, request: ModelRequest) -> str | None:
        """None, or the reason why this call has to be made live."""

    @abstractmethod
    def item(self, custom_id: str, request: ModelRequest) -> BatchItem:
        """The line that asks for a call, built as the live call is. Equal for equal arguments.

        A seat's service tier is left out. Marks of the prompt cache are kept where they lower the price of a batch too.

        Args:
            custom_id: matches `CUSTOM_ID`; unique in its batch.
        """

    @abstractmethod
    async def upload(self, prepared: PreparedBatch) -> str | None:
        """Send the items as a file; its id. None where they are sent with the submission.

        A file that is not submitted costs nothing: it may be uploaded again.
        """

    @abstractmethod
    async def submit(self, prepared: PreparedBatch, file_id: str | None) -> SubmittedBatch:
        """Submit the batch, once.

        Raises:
            BatchFailure: where it `may_have_arrived`, the provider may have the batch: ask `find` before a repetition.
        """

    @abstractmethod
    async def find(self, prepared: PreparedBatch) -> list[SubmittedBatch]:
        """The batches in the provider's list that may be this one, newest first; [] if there is certainly none.

        By nonce, or, where there is no place for one, by count and the bounded time of its sending: those are not
        `certain`.
        """

    @abstractmethod
    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""

    @abstractmethod
    def results(self, batch_id: str, state: BatchState) -> AsyncIterator[BatchLine]:
        """The results of an ended batch, in any order, read without having them in memory.

        A line that cannot be read is yielded as UNREADABLE. So is, as the last one, the end of a file that is longer
        than any batch's results are. The lines may be read again as long as the provider keeps them.

        Raises:
            BatchFailure: the connection broke, or the provider does not have the results any more. What was yielded
                before is right.
        """

    @abstractmethod
    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to end a batch; it has ended when `state` says so. One that has ended is left as it is.

        Raises:
            BatchRefused: the provider does not end it, as it is now.
        """

    @abstractmethod
    def reply(self, request: ModelRequest | None, line: BatchLine) -> ModelReply:
        """The reply to a call, from a line that ANSWERED or ERRORED, read as a live call's.

        Its usage names the service tier `batch`, by which its cost is computed (`cost_of`).

        Args:
            request: the call; None: what was asked is not known any more, and the reply does not say what was sent.

        Raises:
            ValueError: the line has no response.
        """

    @abstractmethod
    async def close(self) -> None:
        """Release connections."""
