"""A server of a store while it runs: pages, HTTP interface, live events, metrics."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from jury_events.text import pluralize
from jury_judge.serving.served_store import ServedStore, resuming
from jury_web.app import AccessPolicy, create_app
from jury_web.metrics_endpoint import metrics_route
from jury_web.pages.routing import page_routes
from jury_web.root_path import ServeRefused
from jury_web.server import Address, serving


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
