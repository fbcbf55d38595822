"""The server itself, on uvicorn: for the command `jury simulate`, and for tests of whatever speaks HTTP to models."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from jury_providers.embedded_server import EmbeddedServer, listening_socket
from jury_providers.simulated.http.app import simulation_app
from jury_providers.simulated.http.delivery import ABORT
from jury_providers.simulated.http.desk import Desk
from jury_providers.simulated.http.served import Served
from jury_providers.simulated.script import AS_USUAL, Script

HEADER = ("x-jury-simulated", "1")
"""On every response, so that nothing passes for a model's."""

_BACKLOG = 4096


class Simulation(NamedTuple):
    """A server that runs: its URL without a path, what it served so far, and whether only this machine reaches it."""

    url: str
    served: Served
    loopback: bool

    @property
    def variables(self) -> dict[str, str]:
        """The environment that leads the providers' clients here."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_BASE_URL": self.url,
            "GOOGLE_GEMINI_BASE_URL": self.url,
        }


@asynccontextmanager
async def simulation_server(
    script: Script = AS_USUAL, seed: int = 0, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Simulation]:
    """Serve simulated models while the context lasts, in this event loop.

    Args:
        script: delays and faults; a `WireScript` has those of the wire too.
        seed: of the readers, where a request holds none.
        host: the address to listen at.
        port: 0 takes a free one.

    Raises:
        CannotListen: the address is in use, or none of this machine's.
    """
    listener = listening_socket(host, port, _BACKLOG)
    address = ip_address(listener.getsockname()[0])
    url, loopback = f"http://{_authority(address)}:{listener.getsockname()[1]}", address.is_loopback
    desk = Desk(script, seed)
    config = uvicorn.Config(
        simulation_app(desk),
        http=_Protocol,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        headers=[HEADER],
        backlog=_BACKLOG,
        # What is still unanswered then is held on purpose, or late.
        timeout_graceful_shutdown=0,
    )
    server = EmbeddedServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield Simulation(url, desk.served, loopback)
    finally:
        server.should_exit = True
        await serving
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)


class _Protocol(H11Protocol):
    """Lets the application drop a connection, which ASGI alone can't."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        app = self.app

        async def droppable(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {ABORT: self.transport.abort}
            await app(scope, receive, send)

        self.app = droppable


def _authority(address: IPv4Address | IPv6Address) -> str:
    """How clients on this machine name it."""
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"  # noqa: PLR2004  (of the Internet Protocol)
    return str(address) if address.version == 4 else f"[{address}]"  # noqa: PLR2004
