"""Downloads from checked addresses only: a name is resolved once, and the connection goes to the checked address."""

import socket
import ssl
from collections.abc import Callable
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
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

from jury_judge.cases.artifact_hosts import AllowedHosts, Resolve
from jury_judge.errors import ArtifactSourceError

Dial = Callable[[str, int, float | None], socket.socket]
"""Connects to host and port; the timeout in seconds applies to each address of the host."""


def checked_opener(hosts: AllowedHosts, resolve: Resolve, *, redirects: bool = True) -> OpenerDirector:
    """An opener for URLs of allowed hosts, redirects included; without `redirects` they are answers like any other.

    It ignores the environment's proxies, which would resolve names again. Opening a URL raises `ArtifactSourceError`
    if an address or a redirect is refused, before anything is sent to it.
    """

    def dial(host: str, port: int, timeout: float | None) -> socket.socket:
        problem: OSError | None = None
        for address in hosts.addresses(host, port, resolve):
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as error:
                problem = error
        raise problem or OSError(f"{host} has no address")

    following = _SameHostRedirects() if redirects else _NoRedirects()
    return build_opener(ProxyHandler({}), _CheckedHttpHandler(dial), _CheckedHttpsHandler(dial), following)


class _CheckedHttpConnection(HTTPConnection):
    def __init__(self, host: str, *, dial: Dial, **options: Any) -> None:
        self._dial = dial
        super().__init__(host, **options)

    def connect(self) -> None:
        self.sock = self._dial(self.host, self.port, self.timeout)


class _CheckedHttpsConnection(HTTPSConnection, _CheckedHttpConnection):
    """TLS over a checked connection; `HTTPSConnection` verifies the certificate for the host's name."""


class _CheckedHttpHandler(HTTPHandler):
    def __init__(self, dial: Dial) -> None:
        super().__init__()
        self._dial = dial

    def http_open(self, req: Request) -> HTTPResponse:
        # Typeshed lacks the options that `do_open` passes to the connection.
        return self.do_open(_CheckedHttpConnection, req, dial=self._dial)  # type: ignore[arg-type]


class _CheckedHttpsHandler(HTTPSHandler):
    def __init__(self, dial: Dial) -> None:
        super().__init__()
        self._dial = dial

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_CheckedHttpsConnection, req, dial=self._dial, context=ssl.create_default_context())


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
