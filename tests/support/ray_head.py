"""The head of a Ray cluster, as far as the one call goes by which it is asked for its token."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_FLOW_CONTROL = bytes([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 5])
_ANSWERED = bytes([0, 0, 5, 0, 0, 0, 0, 0, 1]) + bytes(5)
_PREFACE = 24


@contextmanager
def ray_head(token: str | None, *, status: bytes = b"16") -> Iterator[str]:
    """Its address; without a `token` it is open. A call that is not answered gets this gRPC `status`."""
    trailers = b"\x00\x0bgrpc-status\x02" + status
    refused = len(trailers).to_bytes(3) + bytes([1, 5, 0, 0, 0, 1]) + trailers
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile("rb") as sent:
                    sent.read(_PREFACE)
                    connection.sendall(_SETTINGS)
                    carried = b""
                    # The client's settings, the header of its call, and the empty message.
                    for _ in range(3):
                        carried += sent.read(int.from_bytes(sent.read(9)[:3]))
                    welcome = token is None or f"Bearer {token}".encode() in carried
                    connection.sendall(_FLOW_CONTROL + (_ANSWERED if welcome else refused))

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()
