"""A server of a store while it runs: pages, HTTP interface, live events, metrics."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jury_events.text import pluralize
from jury_judge import MetricTotals
from jury_judge.observation.metrics_text import MetricsExposition
from jury_judge.serving.served_store import ServedStore, resuming
from jury_web.app import AccessPolicy, create_app, with_middleware
from jury_web.credentials import TokenAttempts
from jury_web.middleware import ServeRefused
from jury_web.pages.pages import page_routes
from jury_web.server import Address, listen, serving


async def serve(
    served: ServedStore,
    listener: socket.socket,
    address: Address,
    policy: AccessPolicy,
    *,
    stopping: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Serve a store until `stopping` is set; debates that run then stop where they are.

    Args:
        say: takes lines for the user: where it serves, what it goes on with, what is left.
    """
    service, batches, drift = served.service(), served.batches(), served.drift()
    pages = page_routes(service)

    def look() -> None:
        batches.look()
        drift.look()

    app = create_app(service, policy, [*pages, metrics_route(served.metrics, look)])
    with batches.shown(served.metrics), drift.shown(served.metrics):
        async with serving(app, listener, service.end), served.delivering(stopping):
            say(f"Jury Judge: {address.url}{policy.root}   (Ctrl-C ends it)")
            async with resuming(service, say):
                await stopping.wait()
            running = service.submissions.running
            left = f"; {pluralize(running, 'submission')} under way: the next server of this store goes on"
            say("jury: ending" + (left if running else ""))


def policy_of(
    address: Address,
    hosts: Sequence[str],
    token: str | None,
    reviewers: Mapping[str, str] = MappingProxyType({}),
    *,
    reviewer: str | None = None,
    root: str = "",
) -> AccessPolicy:
    """Which requests a server accepts that listens at `address`.

    Args:
        root: the path of a proxy below which clients reach the server; "": it has none.
    """
    if reviewer is not None and not address.loopback:
        raise ServeRefused(
            "--reviewer asks for no token, so it listens on this machine alone; leave --host out, or give "
            "--reviewers FILE"
        )
    names = frozenset({*address.names, *hosts})
    return AccessPolicy(names, address.everywhere, token, reviewers=reviewers, reviewer=reviewer, root=root)


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
