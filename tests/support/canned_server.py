"""A provider on loopback that answers with given bytes and keeps what it was asked."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple


class Canned(NamedTuple):
    """One answer. `pieces` are written one by one; `then` is what comes after them.

    end: the response is whole. drop: the connection is cut in the middle. hang: nothing more comes.
    silent: the connection is closed before an answer begins.
    """

    status: int = 200
    pieces: Sequence[bytes] = (b"",)
    headers: Mapping[str, str] = {}
    then: str = "end"


class Asked(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = Canned | Callable[[Asked], Canned]
"""An answer, or what makes it of the request."""


class CannedServer:
    """Answers in the order of `answers`, the last one for ever."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = deque(answers)
        self.asked: list[Asked] = []
        self.connections = 0
        self.most_at_once = 0
        self.dropped = asyncio.Event()
        self.hangs = asyncio.Event()
        self.release: asyncio.Event | None = None
        self.url = ""
        self._now = 0
        self._writers: set[asyncio.StreamWriter] = set()

    def answer(self) -> Canned:
        answer = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Canned) else answer(self.asked[-1])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._exchange(reader, writer):
                pass
        writer.close()
        self.dropped.set()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self._writers.discard(writer)

    async def close(self) -> None:
        """Close what is open and wait until no client is served any more."""
        while self._writers:
            for writer in self._writers:
                writer.close()
            await asyncio.sleep(0)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.asked.append(Asked(head[0].split()[1], headers, body))
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        if self.release is not None:
            await self.release.wait()
        canned = self.answer()
        if canned.then == "silent":
            self._now -= 1
            return False
        length = sum(map(len, canned.pieces)) + (0 if canned.then == "end" else 1)
        own = {"content-length": str(length), "content-type": "application/json", **canned.headers}
        lines = [f"HTTP/1.1 {canned.status} Reason", *(f"{name}: {value}" for name, value in own.items()), "", ""]
        writer.write("\r\n".join(lines).encode())
        for piece in canned.pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        self._now -= 1
        if canned.then == "hang":
            self.hangs.set()
            await reader.read()
        return canned.then == "end"


@asynccontextmanager
async def canned_server(*answers: Answer) -> AsyncIterator[CannedServer]:
    """A server that listens on a free port."""
    canned = CannedServer(answers)
    server = await asyncio.start_server(canned.serve, "127.0.0.1", 0)
    canned.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield canned
    finally:
        server.close()
        await canned.close()


def events(*data: Any) -> bytes:
    """Server-sent events, `event:` lines where the data has a `type`."""
    said = []
    for event in data:
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        said.append(f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "".join(said).encode()
