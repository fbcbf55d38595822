"""Shared tasks: one that failed is started again by its next user."""

import asyncio
from typing import Any


def has_failed(work: "asyncio.Future[Any]") -> bool:
    """Whether it ended with an error or was cancelled."""
    return work.done() and (work.cancelled() or work.exception() is not None)
