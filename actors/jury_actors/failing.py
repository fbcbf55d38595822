"""Work that is begun once and shared by all who need it: one that failed is begun again by the next who asks."""

import asyncio
from typing import Any


def has_failed(work: "asyncio.Future[Any]") -> bool:
    """Whether it ended without a result, by an error or because it was cancelled."""
    return work.done() and (work.cancelled() or work.exception() is not None)
