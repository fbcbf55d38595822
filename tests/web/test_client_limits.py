"""Limits of what one client can make the server store or do, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from jury_store import MemoryEventStore
from jury_web import middleware
from support.running_server import running_server
from support.writing import Writing

PING, PONG, TEXT = 0x89, 0x8A, 0x81


class Wire:
    """One connection to a server."""

    def __init__(self, host: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.host = host
        self.reader = reader
        self.writer = writer

    def begin(self, *lines: bytes) -> None:
        """Send the head of a request."""
        first, *others = lines
        self.writer.write(b"\r\n".join((first, b"Host: " + self.host, *others, b"", b"")))

    def post(self, size: int) -> None:
        """Send the head of a JSON request with that Content-Length."""
        kind = b"Content-Type: application/json"
        self.begin(b"POST /api/evaluations HTTP/1.1", kind, b"Content-Length: %d" % size)

    async def head(self) -> bytes:
        """The head of the next response."""
        return await self.reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """All data until the server closes the connection."""
        received = bytearray()
        with suppress(ConnectionError):
            while piece := await self.reader.read(65536):
                received += piece
        return bytes(received)


@asynccontextmanager
async def wire(base: str) -> AsyncIterator[Wire]:
    there = urlsplit(base)
    reader, writer = await asyncio.open_connection(there.hostname, there.port)
    try:
        yield Wire(there.netloc.encode(), reader, writer)
    finally:
        writer.transport.abort()


# Bodies


async def test_incomplete_bodies_use_at_most_the_memory_of_all_bodies() -> None:
    size = 150_000
    with running_server(MemoryEventStore(), max_all_bodies=2 * size) as (base, _):
        async with AsyncExitStack() as stack, asyncio.timeout(120):
            wires = [await stack.enter_async_context(wire(base)) for _ in range(6)]
            for one in wires:
                one.post(size)
                one.writer.write(b" " * (size - 1))
            heads = [asyncio.create_task(one.head()) for one in wires]
            answered = []
            for head in asyncio.as_completed(heads):
                answered.append(await head)
                if len(answered) == len(wires) - 2:
                    break
            for head in heads:
                head.cancel()

    assert {b"HTTP/1.1 503 Service Unavailable"} == {head.split(b"\r\n")[0] for head in answered}
    assert all(b"connection: close" in head and b"retry-after: 60" in head for head in answered)


async def test_the_memory_of_a_body_is_freed_after_the_response() -> None:
    size = 150_000
    with running_server(MemoryEventStore(), max_all_bodies=size) as (base, _):
        async with wire(base) as one, asyncio.timeout(120):
            for _ in range(3):
                one.post(size)
                one.writer.write(b" " * (size - 2) + b"{}")
                head = await one.head()
                length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
                await one.reader.readexactly(length)

                assert head.startswith(b"HTTP/1.1 422")


async def test_the_memory_of_a_body_is_freed_when_its_client_disconnects() -> None:
    size = 150_000
    with running_server(MemoryEventStore(), max_all_bodies=size) as (base, _):
        async with wire(base) as gone:
            gone.post(size)
            gone.writer.write(b" " * (size - 1))
            await gone.writer.drain()
        async with asyncio.timeout(120):
            head = b"503"
            while b"503" in head:
                async with wire(base) as one:
                    one.post(size)
                    one.writer.write(b" " * (size - 2) + b"{}")
                    head = await one.head()

    assert head.startswith(b"HTTP/1.1 422")


async def test_a_slow_body_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "_BODY_SECONDS", 0.5)
    with running_server(MemoryEventStore()) as (base, _):
        async with wire(base) as one, asyncio.timeout(120):
            one.post(10_000)
            received = b""
            while not received:
                one.writer.write(b" ")
                with suppress(TimeoutError):
                    received = await asyncio.wait_for(one.reader.read(1000), 0.05)
            received += await one.rest()

    assert received.startswith(b"HTTP/1.1 408")
    assert b"connection: close" in received


# Body length


async def test_a_request_with_two_lengths_is_rejected_and_its_connection_closed() -> None:
    with running_server(MemoryEventStore()) as (base, _):
        for path in (b"/api/evaluations", b"/nowhere"):
            async with wire(base) as one, asyncio.timeout(120):
                one.begin(b"POST %s HTTP/1.1" % path, b"Content-Length: 5", b"Transfer-Encoding: chunked")
                one.writer.write(b"0\r\n\r\n")
                received = await one.rest()

            assert received.startswith(b"HTTP/1.1 400")
            assert b"has two lengths" in received


# WebSockets


@asynccontextmanager
async def socket_of_a_debate(base: str) -> AsyncIterator[Wire]:
    """An open WebSocket."""
    async with wire(base) as one:
        one.begin(
            b"GET /api/debates/d/ws HTTP/1.1",
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Version: 13",
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        )
        assert (await one.head()).startswith(b"HTTP/1.1 101")
        yield one


async def test_pings_of_a_websocket_client_are_answered_and_one_that_sends_too_much_is_disconnected() -> None:
    store = MemoryEventStore()
    Writing(store).write(*Writing(store).script.begins())
    with running_server(store) as (base, _):
        async with socket_of_a_debate(base) as one, asyncio.timeout(120):
            for number in range(20):
                one.writer.write(bytes([PING, 0x84, 0, 0, 0, 0]) + b"%04d" % number)
                await one.reader.readuntil(bytes([PONG, 4]) + b"%04d" % number)
        for frame in (PING, PONG, TEXT):
            async with socket_of_a_debate(base) as one, asyncio.timeout(120):
                one.writer.write(bytes([frame, 0x80, 0, 0, 0, 0]) * 10_000)
                received = await one.rest()

            assert received.count(bytes([PONG, 0])) < 1000
