"""Downloads from checked addresses only: a name is resolved once, and the connection goes to the checked address."""

import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from typing import IO, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from jury_cases.artifact_hosts import AllowedHosts, Resolve
from jury_cases.errors import ArtifactSourceError

Dial = Callable[[str, int, float | None], socket.socket]
"""Connects to host and port; the addresses of the host share the timeout in seconds."""


def checked_opener(hosts: AllowedHosts, resolve: Resolve, *, redirects: bool = True) -> OpenerDirector:
    """An opener for URLs of allowed hosts, redirects included; without `redirects` they are answers like any other.

    It ignores the environment's proxies, which would resolve names again. Opening a URL raises `ArtifactSourceError`
    if an address or a redirect is refused, before anything is sent to it. Its timeout applies to connecting, to TLS, to
    sending, to the whole head of the answer, and then to each read of the body.
    """

    def dial(host: str, port: int, timeout: float | None) -> socket.socket:
        problem: OSError | None = None
        found = hosts.addresses(host, port, resolve)
        for address in found:
            try:
                connected = socket.create_connection((address, port), timeout and timeout / len(found))
            except OSError as error:
                problem = error
            else:
                connected.settimeout(timeout)
                return connected
        raise problem or OSError(f"{host} has no address")

    following = _SameHostRedirects() if redirects else _NoRedirects()
    return build_opener(ProxyHandler({}), _CheckedHttpHandler(dial), _CheckedHttpsHandler(dial), following)


class _HeadReader(RawIOBase):
    """Reads from a socket; until `end`, in seconds of the monotonic clock, while it is set."""

    end: float | None = None

    def __init__(self, sock: socket.socket, raw: RawIOBase) -> None:
        self._sock, self._raw = sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.end is not None:
            left = self.end - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _CheckedResponse(HTTPResponse):
    """An answer whose head arrives within the timeout of its socket, which else applies to each of its bytes."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._sock = sock
        self._reader = _HeadReader(sock, self.fp.detach())
        self.fp = BufferedReader(self._reader)

    def begin(self) -> None:
        timeout = self._sock.gettimeout()
        if timeout is not None:
            self._reader.end = time.monotonic() + timeout
        super().begin()
        self._reader.end = None
        self._sock.settimeout(timeout)


class _CheckedHttpConnection(HTTPConnection):
    response_class = _CheckedResponse

    dial: Dial

    def connect(self) -> None:
        self.sock = self.dial(self.host, self.port, self.timeout)


class _CheckedHttpsConnection(HTTPSConnection, _CheckedHttpConnection):
    """TLS over a checked connection; `HTTPSConnection` verifies the certificate for the host's name."""


def _connecting(kind: type[_CheckedHttpConnection], dial: Dial) -> Callable[..., _CheckedHttpConnection]:
    """Makes connections through `dial`; `HTTPSConnection` takes no option of another class."""

    def connection(host: str, **options: Any) -> _CheckedHttpConnection:
        made = kind(host, **options)
        made.dial = dial
        return made

    return connection


class _CheckedHttpHandler(HTTPHandler):
    def __init__(self, dial: Dial) -> None:
        super().__init__()
        self._dial = dial

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_connecting(_CheckedHttpConnection, self._dial), req)


class _CheckedHttpsHandler(HTTPSHandler):
    def __init__(self, dial: Dial) -> None:
        super().__init__()
        self._dial = dial

    def https_open(self, req: Request) -> HTTPResponse:
        connecting = _connecting(_CheckedHttpsConnection, self._dial)
        return self.do_open(connecting, req, context=ssl.create_default_context())


class _SameHostRedirects(HTTPRedirectHandler):
    """Follows redirects within the same scheme and host only."""

    def redirect_request(  # noqa: PLR0917  (as urllib calls it)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (old.scheme, old.netloc.lower()) != (new.scheme, new.netloc.lower()):
            fp.close()
            raise ArtifactSourceError("redirects to another host, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _NoRedirects(HTTPRedirectHandler):
    """Raises `HTTPError` for a redirect."""

    def redirect_request(self, *_arguments: object) -> None:
        return None
