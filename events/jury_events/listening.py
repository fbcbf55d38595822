"""The listening sockets of our HTTP servers."""

import socket

from jury_events.errors import JuryError


class CannotListen(JuryError):
    """The server cannot listen at its address; the message contains the reason."""


def listening_socket(host: str, port: int, backlog: int) -> socket.socket:
    """A listening socket: clients that connect before the server has started wait instead of being refused.

    Args:
        port: 0: any free port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # asyncio sets TCP_NODELAY only if the socket's protocol is set.
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
