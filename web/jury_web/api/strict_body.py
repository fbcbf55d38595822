"""Request bodies are parsed like case files: no duplicate key, NaN, number beyond a float or lone surrogate."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from jury_events.strict_json import JsonRefused, decode_text
from jury_web.api.error_responses import RequestRefused


class StrictRequest(Request):
    """A request with strictly parsed JSON."""

    async def json(self) -> Any:
        """The parsed body.

        Raises:
            RequestRefused: it is not UTF-8, or not strict JSON.
        """
        try:
            # In a thread, so that a body of megabytes does not delay live readers.
            return await asyncio.to_thread(_decoded, await self.body())
        except UnicodeDecodeError as error:
            raise RequestRefused(422, f"byte {error.start + 1} of the body is not UTF-8", "send UTF-8") from error
        except JsonRefused as error:
            raise RequestRefused(422, str(error), "send one JSON object") from error


def _decoded(body: bytes) -> Any:
    return decode_text(body.decode())


class StrictRoute(APIRoute):
    """A route with strict bodies."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI, "Custom Request and APIRoute class"."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict
