"""Wrong tokens are counted, so that nobody tries many."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

MOST = 10
"""Different wrong tokens of one client within `WITHIN`."""

WITHIN = 60.0
"""Seconds after which a wrong token is forgotten."""

_MOST_CLIENTS = 10_000
"""Whose tries are remembered; the one that tried longest ago is forgotten first."""


class TokenAttempts:
    """Wrong tokens by client. A client with too many is told to wait, whatever further token it shows.

    The same wrong token again tells nobody anything new, and is not counted: a program with an old token locks nobody
    out who comes from the same address.

    Args:
        now: seconds, which never go back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def too_many(self, scope: Scope, token: bytes) -> bool:
        """Whether this client must wait before it shows `token`."""
        wrong = self._recent(client_of(scope))
        return len(wrong) >= MOST and _digest(token) not in wrong

    def add(self, scope: Scope, token: bytes) -> None:
        """This client showed `token`, which is wrong."""
        client = client_of(scope)
        wrong = self._recent(client)
        wrong[_digest(token)] = self._now()
        self._wrong[client] = wrong
        self._wrong.move_to_end(client)
        if len(self._wrong) > _MOST_CLIENTS:
            self._wrong.popitem(last=False)

    def _recent(self, client: str) -> dict[bytes, float]:
        since = self._now() - WITHIN
        return {token: at for token, at in self._wrong.get(client, {}).items() if at > since}


def client_of(scope: Scope) -> str:
    """Who asks, by the address; of IPv6 by the network, all of whose addresses one machine may have."""
    host, _ = scope.get("client") or ("", None)
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    return str(IPv6Network((int(address), 64), strict=False)) if isinstance(address, IPv6Address) else host


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
