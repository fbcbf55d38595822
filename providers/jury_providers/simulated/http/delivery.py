"""Sending responses: whole, in pieces, with a wire fault, or not at all."""

import asyncio
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from starlette.types import Receive, Scope, Send

from jury_providers.simulated.http.fields import encoded

ABORT = "jury.abort"
"""The ASGI extension by which the server drops a connection."""

_HTML = b"<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n"
_DRIPS = 100
_DRIP_SECONDS = 0.01
"""A slow response takes one second, whatever its length."""


class Transmission(NamedTuple):
    """A response in pieces, `pause` seconds between them; if not `complete`, the connection breaks after the last."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Sequence[bytes]
    pause: float = 0.0
    complete: bool = True


class NoResponse(Enum):
    """No response: the connection is dropped at once, or stays open until the client disconnects."""

    DROPPED = auto()
    HANGING = auto()


async def transmit(what: Transmission | NoResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a response, as an ASGI application does."""
    if isinstance(what, Transmission):
        await _send(what, send)
        return
    if what is NoResponse.DROPPED:
        scope["extensions"][ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(delivery: Transmission, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in delivery.headers]
    if len(delivery.pieces) == 1 and delivery.complete:
        headers.append((b"content-length", str(len(delivery.pieces[0])).encode()))
    await send({"type": "http.response.start", "status": delivery.status, "headers": headers})
    last = len(delivery.pieces) - 1
    for index, piece in enumerate(delivery.pieces):
        more = index < last or not delivery.complete
        await send({"type": "http.response.body", "body": piece, "more_body": more})
        if delivery.pause:
            await asyncio.sleep(delivery.pause)


def json_transmission(status: int, body: Any, headers: tuple[tuple[str, str], ...] = ()) -> Transmission:
    """A JSON response."""
    return Transmission(status, (("content-type", "application/json"), *headers), [encoded(body)])


def with_wire_fault(
    fault: str | None, pieces: list[bytes], *, stream: bool, headers: tuple[tuple[str, str], ...]
) -> Transmission:
    """A response with a fault of `WIRE_FAULTS` (None: without).

    Args:
        fault: in addition, `connection` breaks the connection inside the body, `malformed_response` makes its JSON
            malformed.
        stream: whether they are events.
    """
    sent = (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"), *headers)
    middle = len(pieces) // 2
    started = [*pieces[:middle], pieces[middle][: len(pieces[middle]) // 2]]
    match fault:
        case "html":
            return Transmission(200, (("content-type", "text/html; charset=utf-8"), *headers), [_HTML])
        case "empty":
            return Transmission(200, sent, [b""])
        case "malformed_json" | "malformed_response":
            return Transmission(
                200, sent, [*pieces[:middle], pieces[middle].replace(b'":', b'" ', 1), *pieces[middle + 1 :]]
            )
        case "truncated_json":
            return Transmission(200, sent, [b"".join(started)])
        case "dropped_stream":
            return Transmission(200, sent, [b"".join(started[:-1] if stream else started)])
        case "connection":
            return Transmission(200, sent, started, complete=False)
        case "slow_drip":
            body = b"".join(pieces)
            drip = len(body) // _DRIPS + 1
            drips = [body[start : start + drip] for start in range(0, len(body), drip)]
            return Transmission(200, sent, drips, pause=_DRIP_SECONDS)
        case _:
            return Transmission(200, sent, pieces)
