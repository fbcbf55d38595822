"""Limits how many wrong tokens a client may send."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

MAX_ATTEMPTS = 10
"""Different wrong tokens of one client within `WITHIN`."""

WITHIN = 60.0
"""Seconds after which a wrong token is no longer counted."""

_MAX_CLIENTS = 10_000
"""Clients that are remembered; the one with the oldest attempt is dropped first."""


class TokenAttempts:
    """Different wrong tokens by client. A client with too many must wait before it sends any other token.

    A repeated wrong token is counted once, so that a program with an old token does not lock out its address.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def too_many(self, scope: Scope, token: bytes) -> bool:
        """Whether this client must wait before it sends `token`."""
        wrong = self._recent(client_of(scope))
        return len(wrong) >= MAX_ATTEMPTS and _digest(token) not in wrong

    def add(self, scope: Scope, token: bytes) -> None:
        """Count a wrong token of this client."""
        client = client_of(scope)
        wrong = self._recent(client)
        wrong[_digest(token)] = self._now()
        self._wrong[client] = wrong
        self._wrong.move_to_end(client)
        if len(self._wrong) > _MAX_CLIENTS:
            self._wrong.popitem(last=False)

    def _recent(self, client: str) -> dict[bytes, float]:
        since = self._now() - WITHIN
        return {token: at for token, at in self._wrong.get(client, {}).items() if at > since}


def client_of(scope: Scope) -> str:
    """The IPv4 address, or the IPv6 /64 network, since one machine may have all of its addresses."""
    host, _ = scope.get("client") or ("", None)
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    return str(IPv6Network((int(address), 64), strict=False)) if isinstance(address, IPv6Address) else host


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
