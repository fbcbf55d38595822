"""Calls about batches that fail: by an error, by what is lost on its way, or by half of an answer."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jury_providers import ABORT, Ask, BatchCall, NoResponse, ProviderErrors, encoded, read_whole, transmit

_HTML = "<!DOCTYPE html>\n<html><body><h1>Bad gateway</h1></body></html>\n"


class FaultyCall(BatchCall):
    """The route of a call.

    Args:
        errors: the provider's, by request.
        answer: does what is asked.
        fault: of the next call, None: none.
        left_hanging: set when a call is left without an answer.
    """

    def __init__(
        self,
        errors: Callable[[Request], ProviderErrors],
        answer: Ask,
        fault: Callable[[], str | None],
        left_hanging: asyncio.Event,
    ) -> None:
        super().__init__(errors, answer)
        self._fault = fault
        self._left_hanging = left_hanging

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, fault = Request(scope, receive), self._fault()
        if fault in {"connection", "timeout"}:
            await read_whole(request)
            await self._unanswered(fault, scope, receive, send)
        elif (refused := self._refused(request, fault)) is not None:
            await read_whole(request)
            await refused(scope, receive, send)
        elif fault in {"lost", "lost_timeout"}:
            await self.response(request)
            await self._unanswered(fault, scope, receive, send)
        else:
            with suppress(ConnectionAbortedError):
                sends = _cutting(send, scope, fault) if fault in {"cut", "short"} else send
                await self.send(await self.response(request), scope, receive, sends)

    def _refused(self, request: Request, fault: str | None) -> Response | None:
        errors = self.errors(request)
        if fault == "html":
            return Response(_HTML, media_type="text/html")
        if fault != "not_found" and fault not in errors.failures:
            return None
        failure = errors.failures.get(fault or "") or errors.refusal(404, "Not found.")
        return Response(encoded(failure.body), failure.status, dict(failure.headers), "application/json")

    async def _unanswered(self, fault: str, scope: Scope, receive: Receive, send: Send) -> None:
        hanging = fault.endswith("timeout")
        if hanging:
            self._left_hanging.set()
        await transmit(NoResponse.HANGING if hanging else NoResponse.DROPPED, scope, receive, send)


def _cutting(send: Send, scope: Scope, fault: str) -> Send:
    """Send half of the first piece of a body, and end there: with the connection if it is `cut`."""

    async def cut(message: Any) -> None:
        if message["type"] != "http.response.body":
            headers = [pair for pair in message["headers"] if pair[0].lower() != b"content-length"]
            await send({**message, "headers": headers})
            return
        body = message.get("body", b"")
        is_cut = fault == "cut"
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": is_cut})
        if is_cut:
            await asyncio.sleep(0)
            scope["extensions"][ABORT]()
        raise ConnectionAbortedError

    return cut
