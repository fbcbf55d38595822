"""What the three batch interfaces share: the account of a request, faults of calls, and answers."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from jury_providers.simulated.http.batches.jobs import BatchJobs
from jury_providers.simulated.http.delivery import ABORT, NoResponse, transmit
from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded
from jury_providers.simulated.http.provider_errors import ProviderErrors

Answer = JsonObject | AsyncIterator[bytes] | Response
"""Of a call: a JSON object, a file by pieces, or a response as it is."""

_HTML = "<!DOCTYPE html>\n<html><body><h1>Bad gateway</h1></body></html>\n"
_ACCOUNT_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


class NotFoundHere(InvalidRequest):
    """The account has no such file or batch."""

    status = 404


def account_of(request: Request) -> str:
    """Whose request it is. Keys that are equal up to their last dot are one account's: `acme.1` and `acme.2`."""
    found = next((request.headers[name] for name in _ACCOUNT_HEADERS if name in request.headers), "")
    key = found.removeprefix("Bearer ").strip()
    return key.rpartition(".")[0] or key


class BatchCall:
    """A route for one call about batches, as an ASGI application, with the faults of the script.

    Args:
        jobs: the batches.
        name: of the call, one of `CALLS`.
        errors: the provider's, by request.
        answer: does what is asked.
    """

    def __init__(
        self,
        jobs: BatchJobs,
        name: str,
        errors: Callable[[Request], ProviderErrors],
        answer: Callable[[Request], Awaitable[Answer]],
    ) -> None:
        self._jobs = jobs
        self._name = name
        self._errors = errors
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless a fault strikes before or after."""
        request = Request(scope, receive)
        fault = self._jobs.script.call_fault(self._name, self._jobs.calls[self._name])
        self._jobs.calls[self._name] += 1
        errors = self._errors(request)
        if fault in {"connection", "timeout"}:
            await _read(request)
            await self._unanswered(fault, scope, receive, send)
            return
        if fault == "html":
            await _read(request)
            await Response(_HTML, media_type="text/html")(scope, receive, send)
            return
        if fault == "not_found" or fault in errors.failures:
            await _read(request)
            failure = errors.failures.get(fault or "") or errors.refusal(404, "Not found.")
            response = Response(encoded(failure.body), failure.status, dict(failure.headers), "application/json")
            await response(scope, receive, send)
            return
        response = await self._done(request, errors)
        if fault in {"lost", "lost_timeout"}:
            await self._unanswered(fault, scope, receive, send)
            return
        try:
            with suppress(ConnectionAbortedError):
                await response(scope, receive, _cutting(send, scope, fault) if fault in {"cut", "short"} else send)
        finally:
            if isinstance(response, StreamingResponse) and isinstance(response.body_iterator, AsyncGenerator):
                await response.body_iterator.aclose()

    async def _unanswered(self, fault: str, scope: Scope, receive: Receive, send: Send) -> None:
        hanging = fault.endswith("timeout")
        if hanging:
            self._jobs.left_hanging.set()
        await transmit(NoResponse.HANGING if hanging else NoResponse.DROPPED, scope, receive, send)

    async def _done(self, request: Request, errors: ProviderErrors) -> Response:
        try:
            answer = await self._answer(request)
        except InvalidRequest as error:
            await _read(request)
            return Response(encoded(errors.refusal(error.status, str(error)).body), error.status, None, _JSON)
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, dict):
            return Response(encoded(answer), 200, None, _JSON)
        return StreamingResponse(answer, media_type="application/x-jsonlines")


_JSON = "application/json"


async def _read(request: Request) -> None:
    """Read what is left of a request, so that the client sees the answer and no broken connection."""
    if not request._stream_consumed:  # noqa: SLF001  (Starlette has no other word for it)
        async for _ in request.stream():
            pass


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
