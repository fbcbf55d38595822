"""The address of the server, and connections without a complete request."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jury_store import MemoryEventStore
from jury_web import Address, HttpConnection, listen, serving
from support.each_row import each_row
from support.loop_clock import LoopClock
from support.running_server import running_server
from support.waiting import comes
from support.writing import Writing


@each_row(
    ("address", "names", "loopback", "url"),
    [
        (
            Address("127.0.0.1", 8765),
            {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"},
            True,
            "http://127.0.0.1:8765",
        ),
        (Address("::1", 8765), {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}, True, "http://[::1]:8765"),
        (Address("192.168.1.5", 8765), {"192.168.1.5:8765"}, False, "http://192.168.1.5:8765"),
        (Address("192.168.1.5", 80), {"192.168.1.5:80", "192.168.1.5"}, False, "http://192.168.1.5:80"),
        (Address("192.168.1.5", 9, "jury"), {"192.168.1.5:9", "jury:9"}, False, "http://192.168.1.5:9"),
        (Address("fe80::1", 9), {"[fe80::1]:9"}, False, "http://[fe80::1]:9"),
        (Address("0.0.0.0", 9), {"127.0.0.1:9", "localhost:9", "[::1]:9"}, False, "http://127.0.0.1:9"),
    ],
)
def test_a_server_is_known_by_its_address(address: Address, names: set[str], loopback: bool, url: str) -> None:
    assert names == set(address.names)
    assert (loopback, url) == (address.loopback, address.url)


def test_a_configured_host_name_is_an_accepted_host() -> None:
    listener, address = listen("LocalHost", 0)
    listener.close()

    assert "localhost" == address.name
    assert address.loopback


HEALTH = b"GET /api/health HTTP/1.1\r\nHost: %s\r\n\r\n"
UPGRADE = (
    b"GET /api/debates/d/ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX: " + b"x" * 50_000 + b"\r\n\r\n"
)


@each_row(
    ("first", "sent"),
    [(b"", b""), (b"", b"GET / HT"), (HEALTH, b"GET / HT"), (b"", UPGRADE)],
    ids=["nothing", "half", "half after another", "a handshake too large"],
)
async def test_a_connection_without_a_complete_request_is_aborted(first: bytes, sent: bytes) -> None:
    clock = LoopClock()
    with running_server(MemoryEventStore(), request_seconds=3600, clock=clock) as (base, _):
        there = urlsplit(base)
        reader, writer = await asyncio.open_connection(there.hostname, there.port)
        if first:
            writer.write(first % there.netloc.encode())
            await reader.readuntil(b"}")
        writer.write(sent.replace(b"%s", there.netloc.encode()))
        with contextlib.suppress(ConnectionError):
            ending = asyncio.create_task(reader.read())
            await comes(lambda: clock.forward(3600) or ending.done())
            await ending
        writer.close()


async def test_a_connection_may_send_a_second_request_with_a_long_response() -> None:
    store = MemoryEventStore()
    Writing(store).write(*Writing(store).script.begins())
    clock = LoopClock()
    with running_server(store, request_seconds=3600, stalled_seconds=10**6, alive_every=5400, clock=clock) as (base, _):
        there = urlsplit(base)
        reader, writer = await asyncio.open_connection(there.hostname, there.port)
        host = there.netloc.encode()
        writer.write(HEALTH % host)
        await reader.readuntil(b"}")
        writer.write(b"GET /api/debates/d/live HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
        received = await reader.readuntil(b"phase_change")
        alive = asyncio.create_task(reader.readuntil(b": alive"))
        await comes(lambda: clock.forward(5400) or alive.done())
        await alive
        writer.close()

    assert b"phase_change" in received


def test_every_callback_of_asyncio_reaches_the_protocol_of_uvicorn() -> None:
    def methods(cls: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}

    wrapped = {name for name in vars(HttpConnection) if not name.startswith("_")}

    assert methods(asyncio.Protocol) == wrapped


async def test_a_server_that_is_ended_at_once_still_closes_its_application() -> None:
    asked, stopping, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hanging(_request: Request) -> Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        ended.set()

    listener, address = listen("127.0.0.1", 0)
    ending = asyncio.Event()

    async def serve() -> None:
        async with serving(Starlette(routes=[Route("/", hanging)], lifespan=lifespan), listener, ending.set):
            await stopping.wait()

    server = asyncio.create_task(serve())
    _, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await asked.wait()
    stopping.set()
    await ending.wait()
    server.cancel()
    with pytest.raises(asyncio.CancelledError):
        await server
    writer.close()

    assert ended.is_set()
