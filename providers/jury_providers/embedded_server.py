"""What our HTTP servers have in common: a socket that listens, and uvicorn in an event loop that is somebody else's."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from jury_events.errors import JuryError


class CannotListen(JuryError):
    """The server can't have its address; the message says why."""


class EmbeddedServer(uvicorn.Server):
    """Signals belong to whoever runs the server."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's handlers alone."""
        yield


def listening_socket(host: str, port: int, backlog: int) -> socket.socket:
    """A socket whose clients wait from now on instead of being refused, however long the server takes to start.

    Args:
        host: a name or an address.
        port: 0 takes a free one.
        backlog: how many may wait.

    Raises:
        CannotListen: the address is in use, or none of this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # asyncio sends without delay only where the socket names its protocol.
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(backlog)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "not a host's name"
        raise CannotListen(f"{host}:{port}: {why}; choose another --port (0: any that is free) or --host") from error
    return listener
