"""Which hosts artifact records may come from, and which addresses these may have (`JURY_ARTIFACT_HOSTS`)."""

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from jury_judge.errors import ArtifactSourceError, SettingError
from jury_judge.text.visible_text import visible_line

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, for a port."""

FORMS = "HOST, HOST:PORT or HOST=NETWORK, as in reports.example or reports.internal=10.0.0.0/8"

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
"""All global addresses of version 6 that are given out (RFC 4291, 2.4)."""

_PLATFORM = IPv4Address("168.63.129.16")
"""Azure's own address inside virtual machines: public by its number, reached from inside only."""


class AllowedHost(NamedTuple):
    """One host by its name or address; `port` None is any; `networks` are those it may lie in besides public ones."""

    host: str
    port: int | None
    networks: tuple[Network, ...]


def parse_hosts(value: str) -> frozenset[str]:
    """`JURY_ARTIFACT_HOSTS`: what `AllowedHosts` takes, separated by commas.

    Raises:
        SettingError: one of them is none.
    """
    given = frozenset(host.strip().lower() for host in value.split(",") if host.strip())
    AllowedHosts(given)
    return given


class AllowedHosts:
    """The hosts that may be asked.

    A name must resolve to public addresses, or to those of the network that stands behind it. An address, and
    `localhost`, are allowed as they are.

    Args:
        given: each as `HOST`, `HOST:PORT` or `HOST=NETWORK`.

    Raises:
        SettingError: one is something else.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self._hosts = tuple(_allowed(one) for one in given)

    def find(self, host: str, port: int | None) -> tuple[AllowedHost, ...]:
        """What allows a host; nothing where it may not be asked."""
        return tuple(one for one in self._hosts if one.host == host and one.port in {None, port})

    def addresses(self, host: str, port: int, resolve: Resolve) -> Sequence[str]:
        """The addresses at which an allowed host may be reached, asked for once.

        Raises:
            ArtifactSourceError: one of them is not public, and not allowed either; none of them is used then.
            OSError, ValueError: it has none.
        """
        networks = [network for one in self.find(host, port) for network in one.networks]
        found = resolve(host, port)
        for text in found:
            address = ip_address(text)
            if not (_is_public(address) or any(_embedded(address) in network for network in networks)):
                raise ArtifactSourceError(
                    f"the host {visible_line(host)} has the address {address}, which is not public; "
                    f"where that is meant, write {visible_line(host)}={address} in JURY_ARTIFACT_HOSTS"
                )
        return found


def resolved(host: str, port: int) -> Sequence[str]:
    """What the system's resolver answers."""
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _allowed(given: str) -> AllowedHost:
    place, equals, network = given.strip().lower().partition("=")
    try:
        host, port = _host_and_port(place)
        networks = (ip_network(network.strip(), strict=False),) if equals else _own_networks(host)
    except ValueError:
        raise SettingError(f"JURY_ARTIFACT_HOSTS: {visible_line(given, 300)!r} is none; write {FORMS}") from None
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
    """The IPv4 address that an IPv6 one leads to, where it is a mapped or translated one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
