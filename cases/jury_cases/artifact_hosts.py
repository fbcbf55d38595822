"""Allowed hosts of artifact records (`JURY_ARTIFACT_HOSTS`), and downloads from their checked addresses only."""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import IO, Any, NamedTuple
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

from jury_cases.errors import ArtifactSourceError
from jury_events.errors import SettingError
from jury_events.text import visible_line

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, for a port."""

FORMS = "HOST, HOST:PORT or HOST=NETWORK, as in reports.example or reports.internal=10.0.0.0/8"

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
"""All allocated global unicast addresses of IPv6 (RFC 4291, 2.4)."""

_PLATFORM = IPv4Address("168.63.129.16")
"""Azure's service address inside virtual machines: formally public, reachable from inside only."""


class AllowedHost(NamedTuple):
    """A host by name or address; `port` None: any; `networks`: allowed networks besides public addresses."""

    host: str
    port: int | None
    networks: tuple[Network, ...]


def parse_hosts(value: str, variable: str = "JURY_ARTIFACT_HOSTS") -> frozenset[str]:
    """The hosts in a value of `variable`, separated by commas."""
    if not value:
        return frozenset()
    hosts = frozenset(host.strip().lower() for host in value.split(",") if host.strip())
    AllowedHosts(hosts, variable)
    return hosts


class AllowedHosts:
    """The allowed hosts.

    A name must resolve to public addresses, or to addresses in its `NETWORK`. Addresses and `localhost` are allowed
    directly.

    Args:
        hosts: each as `HOST`, `HOST:PORT` or `HOST=NETWORK`.
        variable: where a user writes them, for messages.
    """

    def __init__(self, hosts: Iterable[str], variable: str = "JURY_ARTIFACT_HOSTS") -> None:
        self._hosts = tuple(_allowed(one, variable) for one in hosts)
        self._variable = variable

    def find(self, host: str, port: int | None) -> tuple[AllowedHost, ...]:
        """The entries that allow a host, in letters of any case; () if it is not allowed."""
        return tuple(one for one in self._hosts if one.host == host.lower() and one.port in {None, port})

    def addresses(self, host: str, port: int, resolve: Resolve) -> Sequence[str]:
        """The addresses of an allowed host, resolved once."""
        networks = [network for one in self.find(host, port) for network in one.networks]
        found = resolve(host, port)
        for text in found:
            address = ip_address(text)
            if not (_is_public(address) or any(_embedded(address) in network for network in networks)):
                raise ArtifactSourceError(
                    f"the host {visible_line(host)} has the address {address}, which is not public; "
                    f"to allow it, write {visible_line(host)}={address} in {self._variable}"
                )
        return found


def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host from the system's resolver."""
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _allowed(entry: str, variable: str) -> AllowedHost:
    place, equals, network = entry.strip().lower().partition("=")
    try:
        host, port = _host_and_port(place)
        networks = (ip_network(network.strip(), strict=False),) if equals else _own_networks(host)
    except ValueError:
        raise SettingError(f"{variable}: {visible_line(entry, 300)!r} is not a host; write {FORMS}") from None
    return AllowedHost(host, port, networks)


def _host_and_port(place: str) -> tuple[str, int | None]:
    try:
        return str(ip_address(place.strip())), None
    except ValueError:
        parts = urlsplit(f"//{place.strip()}")
    if not parts.hostname or parts.path or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(place)
    return parts.hostname, parts.port


def _own_networks(host: str) -> tuple[Network, ...]:
    if host == "localhost":
        return _LOOPBACK
    try:
        return (ip_network(host),)
    except ValueError:
        return ()


def _is_public(address: Address) -> bool:
    own = _embedded(address)
    if isinstance(own, IPv6Address) and own not in _UNICAST:
        return False
    return own.is_global and not own.is_multicast and own != _PLATFORM


def _embedded(address: Address) -> Address:
    """The IPv4 address in a mapped or translated IPv6 address, else the address."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


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
    def redirect_request(  # noqa: PLR0917  (as urllib calls it)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(urljoin(req.full_url, newurl))
        if (old.scheme, old.netloc.lower()) != (new.scheme, new.netloc.lower()):
            fp.close()
            raise ArtifactSourceError("redirects to another host, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        return None
