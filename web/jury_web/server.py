"""The listening socket, its address, uvicorn in the current event loop, and the end of clients that take nothing."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from typing import Any, NamedTuple

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from jury_events.listening import listening_socket
from jury_web.middleware import ServeRefused

REQUEST_SECONDS = 30.0
"""Limit for a complete request head, from the connection or from the response before."""

STALLED_SECONDS = 30.0
"""Limit without progress while a response is being sent."""

_WEBSOCKET_BYTES = 4096
"""Bytes that a WebSocket client may send per second: at most 683 frames. Ours send only pings and pongs."""

_Addresses = tuple[Any, Any]
"""Host and port of the client, and of the server."""


class SlowClientTimeout:
    """ASGI middleware that aborts connections, and the protocols of the connections that it can abort.

    A connection is aborted, not closed: closing waits until the client has taken what is buffered. The application then
    receives a disconnect.

    Args:
        request_seconds: limit for a complete request head, from the connection or from the response before.
        stalled_seconds: limit without progress while a response is being sent.
    """

    def __init__(
        self, app: ASGIApp, request_seconds: float = REQUEST_SECONDS, stalled_seconds: float = STALLED_SECONDS
    ) -> None:
        self._app = app
        self._request_seconds = request_seconds
        self._stalled_seconds = stalled_seconds
        self._connections: dict[_Addresses, _Connection] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = self._connections.get((_pair(scope.get("client")), _pair(scope.get("server"))))
        if connection is None:
            await self._app(scope, receive, send)
            return

        async def send_or_abort(message: Message) -> None:
            await self._send(connection, send, message)

        connection.request_began()
        try:
            await self._app(scope, receive, send_or_abort)
        finally:
            connection.request_ended()

    async def _send(self, connection: "_Connection", send: Send, message: Message) -> None:
        transport = connection.transport
        sending = asyncio.ensure_future(send(message))
        waiting = transport.get_write_buffer_size()
        try:
            while not (await asyncio.wait({sending}, timeout=self._stalled_seconds))[0]:
                before, waiting = waiting, transport.get_write_buffer_size()
                if waiting >= before:
                    transport.abort()
                    break
            await sending
        finally:
            sending.cancel()

    def http_protocol(self, **options: Any) -> asyncio.Protocol:
        """For `uvicorn.Config(http=...)`."""
        return HttpConnection(H11Protocol(**options), self)

    def websocket_protocol(self, **options: Any) -> asyncio.Protocol:
        """For `uvicorn.Config(ws=...)`."""
        return WebSocketConnection(WebSocketsSansIOProtocol(**options), self)

    def opened(self, transport: asyncio.Transport) -> None:
        """Start the timer of a connection, unless it is known: an upgrade to a WebSocket opens it again."""
        addresses = _addresses(transport)
        if addresses not in self._connections:
            self._connections[addresses] = _Connection(transport, self._request_seconds)

    def lost(self, transport: asyncio.Transport) -> None:
        """Stop the timer of a connection, and forget it."""
        connection = self._connections.pop(_addresses(transport), None)
        if connection is not None:
            connection.stop_timer()


class _Connection:
    """A transport that is aborted where no request is handled for `seconds`."""

    def __init__(self, transport: asyncio.Transport, seconds: float) -> None:
        self.transport = transport
        self._seconds = seconds
        self._requests = 0
        self._timer: asyncio.TimerHandle | None = None
        self._start_timer()

    def request_began(self) -> None:
        # Of pipelined requests, the next may begin while the application still cleans up after the one before.
        self._requests += 1
        self.stop_timer()

    def request_ended(self) -> None:
        self._requests -= 1
        if not self._requests and not self.transport.is_closing():
            self._start_timer()

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self.transport.abort)


class HttpConnection(asyncio.Protocol):
    """uvicorn's protocol, called as asyncio calls it."""

    def __init__(self, protocol: asyncio.Protocol, timeout: SlowClientTimeout) -> None:
        self._protocol = protocol
        self._timeout = timeout
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._timeout.opened(transport)
        self._protocol.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timeout.lost(self._transport)
        self._protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()


class WebSocketConnection(HttpConnection):
    """The same after the upgrade. Data after the upgrade request is limited, since each frame costs time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._since = asyncio.get_running_loop().time()
        self._left: float = float("inf")

    def data_received(self, data: bytes) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._since >= 1.0:
            self._since, self._left = now, _WEBSOCKET_BYTES
        if len(data) > self._left:
            self._transport.abort()
            return
        self._left = min(self._left - len(data), _WEBSOCKET_BYTES)
        super().data_received(data)


def _addresses(transport: asyncio.Transport) -> _Addresses:
    return _pair(transport.get_extra_info("peername")), _pair(transport.get_extra_info("sockname"))


def _pair(address: Any) -> Any:
    """Host and port; IPv6 addresses of a socket have two more fields."""
    return tuple(address[:2]) if address else None


_HTTP = 80
_BACKLOG = 1024
_GRACE = 5
"""Seconds that running requests have at shutdown."""

_MAX_MESSAGE = 64 * 1024
"""Bytes of a WebSocket message; messages from clients are ignored."""


class Address(NamedTuple):
    """Where the server listens; `name` is the host name that was configured, None where it was an address."""

    host: str
    port: int
    name: str | None = None

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return ip_address(self.host).is_loopback

    @property
    def everywhere(self) -> bool:
        """Whether it listens on every address of the machine."""
        return ip_address(self.host).is_unspecified

    @property
    def url(self) -> str:
        """The URL for clients on this machine."""
        return f"http://{self.names[0]}"

    @property
    def names(self) -> tuple[str, ...]:
        """Accepted `Host` headers; the first is used in URLs."""
        address = ip_address(self.host)
        own = f"[{self.host}]" if address.version == 6 else self.host  # noqa: PLR2004  (of the Internet Protocol)
        hosts = ("127.0.0.1", "localhost", "[::1]") if self.loopback or self.everywhere else (own,)
        first = (own, *hosts) if self.loopback else hosts
        known = tuple(dict.fromkeys((*first, self.name) if self.name else first))
        return (*(f"{host}:{self.port}" for host in known), *(known if self.port == _HTTP else ()))


def listen(host: str, port: int) -> tuple[socket.socket, Address]:
    """A listening socket and its address; port 0 takes a free one."""
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
async def serving(
    app: ASGIApp,
    listener: socket.socket,
    ending: Callable[[], None],
    *,
    request_seconds: float = REQUEST_SECONDS,
    stalled_seconds: float = STALLED_SECONDS,
) -> AsyncIterator[None]:
    """Serve `app` in this event loop while the context lasts.

    Args:
        ending: called before the server waits for running requests.
    """
    timeout = SlowClientTimeout(app, request_seconds, stalled_seconds)
    config = uvicorn.Config(
        timeout,
        http=timeout.http_protocol,  # type: ignore[arg-type]  # uvicorn only calls it
        ws=timeout.websocket_protocol,  # type: ignore[arg-type]  # the same
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws_max_size=_MAX_MESSAGE,
        # A frame is encoded once for all readers; compressing it again for each would cost more than it saves.
        ws_per_message_deflate=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE,
    )
    server = _WebServer(config)
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
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            # The application is still closed in order; requests are not waited for.
            for one in server.server_state.tasks:
                one.cancel()
            await task
            raise


class _WebServer(uvicorn.Server):
    """Leaves the process's signal handlers unchanged."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
