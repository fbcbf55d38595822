"""How bytes reach the client: whole, piece by piece, spoilt on the way, or not at all."""

import asyncio
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from starlette.types import Receive, Scope, Send

from jury_providers.simulated.http.protocol import encoded

ABORT = "jury.abort"
"""The ASGI extension by which the server drops a connection."""

_HTML = b"<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n"
_DRIPS = 100
_DRIP_SECONDS = 0.01
"""A slow response takes a second, however long it is."""


class Delivery(NamedTuple):
    """A response in pieces, `pause` seconds between them; one that is not `ended` breaks off."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Sequence[bytes]
    pause: float = 0.0
    ended: bool = True


class Silence(Enum):
    """No response: the connection is dropped before a byte of one, or nothing comes until the client goes away."""

    DROPPED = auto()
    HELD = auto()


async def deliver(what: Delivery | Silence, scope: Scope, receive: Receive, send: Send) -> None:
    """Send it, as an ASGI application does."""
    if isinstance(what, Delivery):
        await _send(what, send)
        return
    if what is Silence.DROPPED:
        scope["extensions"][ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(delivery: Delivery, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in delivery.headers]
    if len(delivery.pieces) == 1 and delivery.ended:
        headers.append((b"content-length", str(len(delivery.pieces[0])).encode()))
    await send({"type": "http.response.start", "status": delivery.status, "headers": headers})
    last = len(delivery.pieces) - 1
    for index, piece in enumerate(delivery.pieces):
        more = index < last or not delivery.ended
        await send({"type": "http.response.body", "body": piece, "more_body": more})
        if delivery.pause:
            await asyncio.sleep(delivery.pause)


def json_delivery(status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> Delivery:
    """JSON, whole."""
    return Delivery(status, (("content-type", "application/json"), *headers), [encoded(body)])


def spoilt(fault: str | None, pieces: list[bytes], *, stream: bool, headers: tuple[tuple[str, str], ...]) -> Delivery:
    """An answer on its way through a wire that has this fault, as in `WIRE_FAULTS` (None: none).

    Args:
        fault: `connection` breaks off amid the body, `malformed_response` is one whose JSON is malformed.
        pieces: the events of a stream, or the one body.
        stream: whether they are events.
        headers: what else is told.
    """
    sent = (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"), *headers)
    middle = len(pieces) // 2
    begun = [*pieces[:middle], pieces[middle][: len(pieces[middle]) // 2]]
    match fault:
        case "html":
            return Delivery(200, (("content-type", "text/html; charset=utf-8"), *headers), [_HTML])
        case "empty":
            return Delivery(200, sent, [b""])
        case "malformed_json" | "malformed_response":
            return Delivery(
                200, sent, [*pieces[:middle], pieces[middle].replace(b'":', b'" ', 1), *pieces[middle + 1 :]]
            )
        case "truncated_json":
            return Delivery(200, sent, [b"".join(begun)])
        case "dropped_stream":
            return Delivery(200, sent, [b"".join(begun[:-1] if stream else begun)])
        case "connection":
            return Delivery(200, sent, begun, ended=False)
        case "slow_drip":
            body = b"".join(pieces)
            drip = len(body) // _DRIPS + 1
            drips = [body[start : start + drip] for start in range(0, len(body), drip)]
            return Delivery(200, sent, drips, pause=_DRIP_SECONDS)
        case _:
            return Delivery(200, sent, pieces)
