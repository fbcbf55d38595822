"""Pages of a provider's list of batches."""

from collections.abc import Sequence

from jury_providers.simulated.http.batches.job import BatchJob
from jury_providers.simulated.http.fields import InvalidRequest

_MOST = 1000


def page_of(found: Sequence[BatchJob], after: str | None, limit: str) -> Sequence[BatchJob]:
    """A page of a list, which begins after a batch."""
    if not limit.isdecimal() or not 1 <= int(limit) <= _MOST:
        raise InvalidRequest("limit", f"expected a number from 1 to {_MOST}")
    names = [job.identity for job in found]
    if after is not None and after not in names:
        raise InvalidRequest("after", "no such batch")
    start = 0 if after is None else names.index(after) + 1
    return found[start : start + int(limit)]
