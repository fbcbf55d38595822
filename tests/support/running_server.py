"""A real server in a thread of this process, over a store; and clients that come over its sockets."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from jury_judge import Service
from jury_store import EventStore
from jury_web import AccessPolicy, create_app, listen, page_routes, serving
from jury_web.middleware import MAX_ALL_BODIES
from support.loop_clock import LoopClock


@contextmanager
def running_server(
    store: EventStore,
    panels: Mapping[str, Any] | None = None,
    *,
    request_seconds: float = 30.0,
    stalled_seconds: float = 30.0,
    max_all_bodies: int = MAX_ALL_BODIES,
    clock: LoopClock | None = None,
    access: Mapping[str, Any] = MappingProxyType({}),
    **service: Any,
) -> Iterator[tuple[str, Service]]:
    """Its URL, and its service, which belongs to the server's own event loop; `clock` becomes that of the loop.

    `access`: more fields of the `AccessPolicy`.
    """
    listener, address = listen("127.0.0.1", 0)
    ready: list[Service] = []
    started, stop = threading.Event(), threading.Event()
    problems: list[BaseException] = []

    async def serve() -> None:
        if clock is not None:
            clock.of(asyncio.get_running_loop())
        ready.append(Service(store, panels, **service))
        gate = AccessPolicy(frozenset(address.names), max_all_bodies=max_all_bodies, **access)
        app = create_app(ready[0], gate, page_routes(ready[0]))
        timeouts = {"request_seconds": request_seconds, "stalled_seconds": stalled_seconds}
        async with serving(app, listener, ready[0].end, **timeouts):
            started.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=_run, args=(serve, problems, started))
    thread.start()
    started.wait()
    try:
        if problems:
            raise problems[0]
        yield address.url, ready[0]
    finally:
        if clock is not None:
            clock.release()
        stop.set()
        thread.join()
    if problems:
        raise problems[0]


def _run(serve: Callable[[], Any], problems: list[BaseException], started: threading.Event) -> None:
    try:
        asyncio.run(serve())
    except BaseException as error:  # noqa: BLE001  (it is raised where the test is)
        problems.append(error)
    finally:
        started.set()
