"""The wall on the way out: a reader that takes nothing for too long is dropped, however much waits for it.

An ASGI extension of ours hands the connection to the application: closing it the usual way waits for its buffer to
drain, which is what a stalled reader never lets happen.
"""

import asyncio
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONNECTION = "jury.connection"
"""Under `extensions` of a scope: a `Connection`."""

STALLED_AFTER = 30.0
"""Seconds without progress after which a reader is dropped."""


class Connection(Protocol):
    """What of a transport is needed (`asyncio.WriteTransport`)."""

    def abort(self) -> None:
        """Drop it now, with what waits."""
        ...

    def get_write_buffer_size(self) -> int:
        """Bytes that wait to be taken."""
        ...


class StalledReaders:
    """Waits with what is sent for as long as the reader takes some of it; who does not is dropped.

    The application sees what it sees when a reader leaves.

    Args:
        app: behind the wall.
        within: seconds in which some of what waits must be taken.
    """

    def __init__(self, app: ASGIApp, within: float = STALLED_AFTER) -> None:
        self._app = app
        self._within = within

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection | None = scope.get("extensions", {}).get(CONNECTION)
        if connection is None:
            await self._app(scope, receive, send)
            return

        async def send_at_their_pace(message: Message) -> None:
            await self._hand_over(connection, send, message)

        await self._app(scope, receive, send_at_their_pace)

    async def _hand_over(self, connection: Connection, send: Send, message: Message) -> None:
        sending = asyncio.ensure_future(send(message))
        waiting = connection.get_write_buffer_size()
        try:
            while not (await asyncio.wait({sending}, timeout=self._within))[0]:
                before, waiting = waiting, connection.get_write_buffer_size()
                if waiting >= before:
                    # What is being sent returns, or raises, as for a reader that left.
                    connection.abort()
                    break
            await sending
        finally:
            sending.cancel()
