"""An ASGI extension of ours: a connection that makes no progress is dropped, whatever waits in its buffer.

Closing it the usual way waits for the buffer to drain, which is what a stalled reader never lets happen.
"""

from collections.abc import Callable
from typing import cast

from starlette.types import Scope

ABORT = "jury.abort"


def abort(scope: Scope) -> None:
    """Drop the connection that a request came over; nothing where the server has no such extension."""
    drop = cast("Callable[[], None] | None", scope.get("extensions", {}).get(ABORT))
    if drop is not None:
        drop()
