"""Addresses of Ray clusters, and who may use them.

Ray tries to reach a cluster for minutes, ignoring signals, and tries a refused token for 20 seconds. A client that gets
an answer here may run code there.
"""

import os
import socket
from pathlib import Path

from jury_actors.errors import ClusterOpen, ClusterRefused, ClusterUnreachable
from jury_events.regular_files import read_failure, read_text

_SECONDS = 5.0
"""Timeout."""

OPENING = "NodeInfoGcsService/GetClusterId"
"""The call that opens every client's connection."""
_EMPTY_MESSAGE = bytes(5)
"""As gRPC frames it: not compressed, of no bytes."""

_DATA, _HEADERS, _SETTINGS = b"\x00", b"\x01", b"\x04"
_END_STREAM, _END_HEADERS = 0x1, 0x4
_STREAM = 1
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""How a client opens an HTTP/2 connection (RFC 9113, 3.4)."""

_SEVEN_BITS = 0x7F

_LARGEST_FRAME = 1 << 14
"""Bytes of a frame that a server may send unasked (RFC 9113, 4.2)."""

_UNAUTHENTICATED = b"grpc-status\x0216"
"""Name, length and value of the status that gRPC gives to a call without a valid token, as its trailers hold it."""


def answers(address: str, token: str | None = None, *, method: str = OPENING) -> bool:
    """Whether the server of Ray at `address` (host:port) answers a call that carries this token, or none.

    Args:
        address: of the head, or of another server of the cluster that has the `method`.
        token: sent with the call; None: no token.
        method: as `Service/Method`; called with an empty message.
    """
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS) as connection:
            return _is_answered(connection, _call(address, token, method))
    except (OSError, ValueError) as error:
        raise ClusterUnreachable(
            f"no Ray cluster answers at {address} ({error}); start one with `ray start --head`, or name none"
        ) from error


def _call(address: str, token: str | None, method: str) -> bytes:
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": f"/ray.rpc.{method}",
        ":authority": address,
        "te": "trailers",
        "content-type": "application/grpc",
    }
    if token is not None:
        fields["authorization"] = f"Bearer {token}"
    block = b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields.items())
    return _frame(_HEADERS, _END_HEADERS, _STREAM, block) + _frame(_DATA, _END_STREAM, _STREAM, _EMPTY_MESSAGE)


def _text(text: str) -> bytes:
    """A string of a header, as it is (RFC 7541, 5.2)."""
    written = text.encode()
    return _length(len(written)) + written


def _length(number: int) -> bytes:
    """A number whose first byte has seven bits for it (RFC 7541, 5.1)."""
    if number < _SEVEN_BITS:
        return bytes([number])
    written = [_SEVEN_BITS]
    number -= _SEVEN_BITS
    while number > _SEVEN_BITS:
        written.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    return bytes([*written, number])


def _frame(kind: bytes, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + kind + bytes([flags]) + stream.to_bytes(4) + payload


class _Frames:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._kept = b""

    def next(self) -> tuple[bytes, int, int, bytes]:
        """Kind, flags, stream and payload of the next one."""
        head = self._read(9)
        length = int.from_bytes(head[:3])
        if length > _LARGEST_FRAME:
            raise ConnectionError("another server than Ray listens there")
        return head[3:4], head[4], int.from_bytes(head[5:9]), self._read(length)

    def _read(self, length: int) -> bytes:
        while len(self._kept) < length:
            more = self._connection.recv(_LARGEST_FRAME)
            if not more:
                raise ConnectionError("the connection was closed before an answer came")
            self._kept += more
        read, self._kept = self._kept[:length], self._kept[length:]
        return read


def _is_answered(connection: socket.socket, call: bytes) -> bool:
    frames = _Frames(connection)
    connection.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, b""))
    if frames.next()[0] != _SETTINGS:
        raise ConnectionError("another server than Ray listens there")
    connection.sendall(call)
    # Other frames, as those of flow control, come in between: a few.
    for _ in range(100):
        kind, flags, stream, payload = frames.next()
        if stream == _STREAM and kind == _DATA:
            return True
        if stream == _STREAM and kind == _HEADERS and flags & _END_STREAM:
            if _UNAUTHENTICATED in payload:
                return False
            break
    raise ConnectionError("another server than the head of a Ray cluster listens there")


_MOST_BYTES = 1 << 16
AUTH_VARIABLE = "RAY_AUTH_TOKEN"
AUTH_FILE_VARIABLE = "RAY_AUTH_TOKEN_PATH"
_TOKEN_PLACES = f"{AUTH_VARIABLE}, the file that {AUTH_FILE_VARIABLE} names, or ~/.ray/auth_token"


def token_for(address: str, *, open_cluster: bool = False) -> str | None:
    """The token that is set here and that the cluster at `address` (host:port) accepts; None for an open cluster.

    Args:
        open_cluster: a cluster that requires no token is accepted.
    """
    if answers(address):
        if open_cluster:
            return None
        raise ClusterOpen(
            f"the Ray cluster at {address} requires no token: anyone who reaches its ports can run code in the "
            "jurors' processes, and read keys and cases there; start it with RAY_AUTH_MODE=token (docs/ray.md), or "
            "accept that with --ray-open-cluster, in Python with ray_open_cluster=True"
        )
    token = _token(address)
    if not token:
        raise ClusterRefused(
            f"the Ray cluster at {address} asks for a token, and none is set: put it into {_TOKEN_PLACES}"
        )
    if not answers(address, token):
        raise ClusterRefused(
            f"the Ray cluster at {address} does not accept the token that is set here; "
            f"put the one that it was started with into {_TOKEN_PLACES}"
        )
    return token


def _token(address: str) -> str:
    """Read where Ray reads it, in the same order."""
    if token := os.environ.get(AUTH_VARIABLE, "").strip():
        return token
    named = os.environ.get(AUTH_FILE_VARIABLE, "")
    path = Path(named) if named else Path.home() / ".ray" / "auth_token"
    try:
        return read_text(path, _MOST_BYTES).strip()
    except FileNotFoundError:
        if not named:
            return ""
        problem = "there is no such file"
    except UnicodeDecodeError:
        problem = "it is no text"
    except (OSError, ValueError) as error:
        problem = read_failure(error)
    raise ClusterRefused(f"the Ray cluster at {address} asks for a token, and {path} cannot be read: {problem}")
