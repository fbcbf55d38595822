"""The server itself, on uvicorn: an address to listen at, live readers that can be dropped, an end in order."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any, NamedTuple

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from jury_judge.errors import ServeRefused
from jury_judge.web.stalling import CONNECTION
from jury_providers.embedded_server import EmbeddedServer, listening_socket

_HTTP = 80
_BACKLOG = 1024
_GRACE = 5
"""Seconds that requests under way have when the server ends."""

REQUEST_WITHIN = 30.0
"""Seconds in which a connection, and what comes after an answer, has to become a request."""

_MOST_MESSAGE = 64 * 1024
"""Bytes that a WebSocket reader may send at once; nothing that it sends is listened to."""

_MOST_FRAMES = 50
"""WebSocket frames that a reader may send within a second. A client pings every 20 seconds or so, and answers ours."""

_SLICE = 4096
"""Bytes of a WebSocket that are parsed before their frames are counted: at most 683 frames."""


class Address(NamedTuple):
    """Where the server listens, and the name by which it was told to, where that is one."""

    host: str
    port: int
    name: str | None = None

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return ip_address(self.host).is_loopback

    @property
    def everywhere(self) -> bool:
        """Whether it is every address of the machine."""
        return ip_address(self.host).is_unspecified

    @property
    def url(self) -> str:
        """As clients on this machine write it."""
        return f"http://{self.names[0]}"

    @property
    def names(self) -> tuple[str, ...]:
        """`Host` headers by which it is reached for certain; the first is for people."""
        address = ip_address(self.host)
        own = f"[{self.host}]" if address.version == 6 else self.host  # noqa: PLR2004  (of the Internet Protocol)
        hosts = ("127.0.0.1", "localhost", "[::1]") if self.loopback or self.everywhere else (own,)
        first = (own, *hosts) if self.loopback else hosts
        known = tuple(dict.fromkeys((*first, self.name) if self.name else first))
        return (*(f"{host}:{self.port}" for host in known), *(known if self.port == _HTTP else ()))


def listen(host: str, port: int) -> tuple[socket.socket, Address]:
    """A socket that clients can connect to from now on; port 0 takes a free one.

    Raises:
        CannotListen: the address is in use, or none of this machine's.
    """
    listener = listening_socket(host, port, _BACKLOG)
    found = listener.getsockname()
    return listener, Address(found[0], found[1], None if _is_address(host) else host.lower())


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket, ending: Callable[[], None]) -> AsyncIterator[None]:
    """Serve `app` in this event loop while the context lasts.

    Args:
        app: its lifespan is run.
        listener: as `listen` gives it.
        ending: called before the server waits for the requests that are under way.

    Raises:
        ServeRefused: the application could not be started.
    """
    config = uvicorn.Config(
        app,
        http=_Http,
        ws=_WebSocket,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws_max_size=_MOST_MESSAGE,
        # A frame is made once for all readers; compressing it anew for each would cost more than it saves.
        ws_per_message_deflate=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE,
    )
    server = EmbeddedServer(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110  (uvicorn sets no event)
            await asyncio.sleep(0.005)
        if task.done():
            raise ServeRefused("the server did not start; its log says why")
        yield
    finally:
        ending()
        server.should_exit = True
        await task


class _Http(H11Protocol):
    """Hands the connection to the application, which ASGI alone does not, and drops who asks for nothing."""

    request_within = REQUEST_WITHIN

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app = _connected(self.app, lambda: self.transport)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._is_idle():
            self._await_request()
        super().data_received(data)
        if not self._is_idle():
            self._forget_deadline()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._forget_deadline()
        super().handle_websocket_upgrade(event)
        protocol = self.transport.get_protocol()
        if isinstance(protocol, _WebSocket) and not protocol.handshake_initiated:
            # Its headers are beyond what the WebSocket's parser takes, which says nothing and waits.
            self.send_400_response("Invalid HTTP request received.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(self.request_within, self.transport.abort)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _WebSocket(WebSocketsSansIOProtocol):
    """The same for WebSockets; a reader that sends too many frames, each of which keeps the server busy, is dropped."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app = _connected(self.app, lambda: self.transport)
        self._frames = 0
        self._counted_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE])

    def handle_events(self) -> None:
        now = self.loop.time()
        if now - self._counted_since >= 1.0:
            self._frames, self._counted_since = 0, now
        self._frames += len(self.conn.events)
        if self._frames > _MOST_FRAMES:
            # No closing handshake: whoever sends so much need not take what is sent either.
            self.transport.abort()
            return
        super().handle_events()


def _connected(app: Any, connection: Callable[[], asyncio.Transport]) -> Any:
    async def extended(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extensions"] = {**scope.get("extensions", {}), CONNECTION: connection()}
        await app(scope, receive, send)

    return extended
