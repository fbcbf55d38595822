"""Answers to calls about batches."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from jury_providers.simulated.http.fields import InvalidRequest, JsonObject, encoded
from jury_providers.simulated.http.protocol import ProviderErrors

Answer = JsonObject | AsyncIterator[bytes] | Response
"""Of a call: a JSON object, a file by pieces, or a response as it is."""

Ask = Callable[[Request], Awaitable[Answer]]

_JSON = "application/json"


class NotFoundHere(InvalidRequest):
    """There is no such file or batch."""

    status = 404


class BatchCall:
    """A route for one call about batches, as an ASGI application.

    Args:
        answer: does what is asked.
    """

    def __init__(self, errors: Callable[[Request], ProviderErrors], answer: Ask) -> None:
        self.errors = errors
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.send(await self.response(Request(scope, receive)), scope, receive, send)

    async def response(self, request: Request) -> Response:
        """Do what is asked."""
        try:
            answer = await self._answer(request)
        except InvalidRequest as error:
            await read_whole(request)
            failure = self.errors(request).refusal(error.status, str(error))
            return Response(encoded(failure.body), error.status, None, _JSON)
        if isinstance(answer, Response):
            return answer
        if isinstance(answer, dict):
            return Response(encoded(answer), 200, None, _JSON)
        return StreamingResponse(answer, media_type="application/x-jsonlines")

    async def send(self, response: Response, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close the file that it reads."""
        try:
            await response(scope, receive, send)
        finally:
            if isinstance(response, StreamingResponse) and isinstance(response.body_iterator, AsyncGenerator):
                await response.body_iterator.aclose()


async def read_whole(request: Request) -> None:
    """Read what is left of a request, so that the client sees the answer and no broken connection."""
    if not request._stream_consumed:  # noqa: SLF001  (Starlette has no other word for it)
        async for _ in request.stream():
            pass
