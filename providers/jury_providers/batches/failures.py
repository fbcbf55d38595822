"""Errors of the calls that send, watch and read batches. No call is repeated here."""

from jury_events.outcome import CallOutcome
from jury_providers.batches.batch import RefusedLine
from jury_providers.errors import ProviderError


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
