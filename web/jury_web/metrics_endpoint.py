"""`/metrics` for Prometheus: a route of `jury serve`, and a small server of its own for `jury run`."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jury_judge import MetricTotals
from jury_judge.metrics_text import MetricsExposition
from jury_web.app import AccessPolicy, with_middleware
from jury_web.credentials import TokenAttempts
from jury_web.server import Address, listen, serving

PATH = "/metrics"


def metrics_route(totals: MetricTotals, look: Callable[[], None] = lambda: None) -> Route:
    """`GET /metrics`; call it behind the middleware of the other endpoints.

    Args:
        look: called before, in a thread: reads what is shown of the store.
    """
    exposition = MetricsExposition(totals)

    # In the event loop, as gauges read what its tasks change.
    async def metrics(request: Request) -> Response:
        await asyncio.to_thread(look)
        page = exposition.page(request.headers.get("accept", ""))
        return Response(page.body, media_type=page.content_type)

    return Route(PATH, metrics, methods=["GET"])


class MetricsEndpoint(NamedTuple):
    """A socket that listens already, and where.

    Attributes:
        listener: closed by the server, or by the caller where it never served.
        address: of the listener.
        token: that requests need; None on loopback only.
    """

    listener: socket.socket
    address: Address
    token: str | None

    @classmethod
    def listening(cls, host: str, port: int, token: str | None) -> "MetricsEndpoint":
        """Listen."""
        return cls(*listen(host, port), token)

    @property
    def url(self) -> str:
        """What a client on this machine reads."""
        return self.address.url + PATH

    @asynccontextmanager
    async def serving(self, totals: MetricTotals) -> AsyncIterator[None]:
        """Serve the metrics and nothing else, under the rules of `jury serve`, in this event loop."""
        policy = AccessPolicy(frozenset(self.address.names), self.address.everywhere, self.token)
        app = with_middleware(Starlette(routes=[metrics_route(totals)]), policy, TokenAttempts())
        async with serving(app, self.listener, lambda: None):
            yield
