"""How large a batch may be, and how long it is kept, by protocol (table `batches` of `models.toml`)."""

from typing import NamedTuple

from jury_providers.catalogue import batch_facts
from jury_providers.endpoints import ApiProtocol


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
