"""The interface of a provider's batches. It keeps nothing between calls, and repeats none."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from datetime import datetime

from jury_providers.batches.batch import BatchAccount, BatchState, PreparedBatch, SubmittedBatch
from jury_providers.batches.item import BatchItem, BatchLine
from jury_providers.batches.limits import BatchLimits
from jury_providers.provider import ModelReply, ModelRequest


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
