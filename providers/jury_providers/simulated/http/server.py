"""The simulation server on uvicorn, for the command `jury simulate` and for tests of model clients."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from email.utils import formatdate
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from jury_events.listening import listening_socket
from jury_providers.simulated.http.app import simulation_app
from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.batches.jobs import BatchJobs
from jury_providers.simulated.http.counters import ServerCounters
from jury_providers.simulated.http.delivery import ABORT
from jury_providers.simulated.http.vendor import NO_VENDOR, Vendor
from jury_providers.simulated.script import NO_FAULTS, Script

HEADER = ("x-jury-simulated", "1")
"""On every response, so that none can be mistaken for a model's."""

_BACKLOG = 4096

_KEEP_ALIVE_SECONDS = 75
"""For which an idle connection is kept: longer than clients keep theirs.

uvicorn's own 5 s end while clients still use the connection. A request that is sent as it ends is lost: the client sees
a broken connection, and no request was served.
"""


class Simulation(NamedTuple):
    """A running server: its URL without a path, its counters, and whether it listens on a loopback address only.

    `batches`: those that were submitted.
    """

    url: str
    served: ServerCounters
    loopback: bool
    batches: BatchJobs

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that direct the providers' clients to it."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_BASE_URL": self.url,
            "GOOGLE_GEMINI_BASE_URL": self.url,
        }


@asynccontextmanager
async def simulation_server(
    script: Script = NO_FAULTS,
    seed: int = 0,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    window: int | None = None,
    vendor: Vendor = NO_VENDOR,
    batches: Callable[[SimulationBackend], BatchJobs] = BatchJobs,
) -> AsyncIterator[Simulation]:
    """Serve simulated models in this event loop, within the context.

    Args:
        script: latency and faults; a `WireScript` has wire faults too.
        port: 0: any free port.
        window: of its models in tokens, as in `SimulationBackend`.
        vendor: what a provider does beside answering.
        batches: makes the batches of the server; their clock is also the time on every response.
    """
    listener = listening_socket(host, port, _BACKLOG)
    address = ip_address(listener.getsockname()[0])
    url, loopback = f"http://{_authority(address)}:{listener.getsockname()[1]}", address.is_loopback
    backend = SimulationBackend(script, seed, window=window, vendor=vendor)
    jobs = batches(backend)
    config = uvicorn.Config(
        _dated(simulation_app(backend, jobs), jobs.clock),
        http=_Protocol,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        headers=[HEADER],
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        # Requests still open then are hanging on purpose, or late.
        timeout_graceful_shutdown=0,
    )
    server = _SimulationServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield Simulation(url, backend.served, loopback, jobs)
    finally:
        server.should_exit = True
        await serving
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        await jobs.close()


def _dated(app: ASGIApp, wall_clock: Callable[[], float]) -> ASGIApp:
    """The application with the time of its own clock on every response, by which clients read how old a batch is."""

    async def dated(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = formatdate(wall_clock(), usegmt=True).encode()
                message = {**message, "headers": [*message.get("headers", ()), (b"date", date)]}
            await send(message)

        await app(scope, receive, sent)

    return dated


class _SimulationServer(uvicorn.Server):
    """Leaves the process's signal handlers unchanged."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(H11Protocol):
    """Lets the application drop a connection, which ASGI does not support."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        app = self.app

        async def droppable(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {ABORT: self.transport.abort}
            await app(scope, receive, send)

        self.app = droppable


def _authority(address: IPv4Address | IPv6Address) -> str:
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"  # noqa: PLR2004  (of the Internet ProtocolHandler)
    return str(address) if address.version == 4 else f"[{address}]"  # noqa: PLR2004  (IPv4)
