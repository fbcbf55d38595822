"""The listening socket, its address, and uvicorn in the current event loop."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from jury_events.listening import listening_socket
from jury_web.errors import ServeRefused
from jury_web.slow_client_timeout import REQUEST_SECONDS, STALLED_SECONDS, SlowClientTimeout

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
        await task


class _WebServer(uvicorn.Server):
    """Leaves the process's signal handlers unchanged."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handlers."""
        yield
