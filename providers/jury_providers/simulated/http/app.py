"""The server's paths: four protocols, their lists of models, and what was served."""

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.delivery import Delivery, Silence, deliver, json_delivery
from jury_providers.simulated.http.desk import Desk
from jury_providers.simulated.http.faults import Anthropic, Google, House, OpenAI
from jury_providers.simulated.http.generate import Generate
from jury_providers.simulated.http.messages import Messages
from jury_providers.simulated.http.protocol import Protocol, encoded
from jury_providers.simulated.http.responses import Responses
from jury_providers.simulated.provider import MODEL_VERSION

MAX_BYTES = 128 << 20
"""Of a request: the 20 pictures that a case may have are 100 MB of base64."""

SERVED = "/_simulate/served"

_GOOGLE_VERSIONS = ("v1", "v1beta", "v1alpha")
_VERBS = {"generateContent": False, "streamGenerateContent": True}


def simulation_app(desk: Desk) -> ASGIApp:
    """An ASGI application that answers for every model of every provider."""
    generate = Generate()
    posts: list[tuple[str, Protocol]] = [
        ("/v1/chat/completions", Chat()),
        ("/v1/responses", Responses()),
        ("/v1/messages", Messages()),
        *((f"/{version}/models/{{call:path}}", generate) for version in _GOOGLE_VERSIONS),
    ]

    async def served(_request: Request) -> Response:
        return _json(200, desk.served.counts())

    return Starlette(
        routes=[
            *(Route(path, _Asking(desk, protocol), methods=["POST"]) for path, protocol in posts),
            *(Route(f"/{version}/models", _models, methods=["GET"]) for version in _GOOGLE_VERSIONS),
            Route(SERVED, served, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _no_such_path, 500: _defect},
    )


class _Asking:
    """A path at which models are asked."""

    def __init__(self, desk: Desk, protocol: Protocol) -> None:
        self._desk = desk
        self._protocol = protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._desk.served.one():
            try:
                delivery = await self._delivery(Request(scope, receive))
            except ClientDisconnect:
                return
            await deliver(delivery, scope, receive, send)

    async def _delivery(self, request: Request) -> Delivery | Silence:
        path: dict[str, object] = {}
        if "call" in request.path_params:
            model, _, verb = request.path_params["call"].rpartition(":")
            if verb not in _VERBS:
                raise HTTPException(404)
            path = {"model": model, "stream": _VERBS[verb]}
        body = await _body(request)
        if body is None:
            self._desk.served.refused += 1
            house = self._protocol.house
            failure = house.refusal(413, f"Request exceeds the maximum size of {MAX_BYTES >> 20} MiB.")
            return json_delivery(413, failure.body)
        return await self._desk.answer(self._protocol, body, path)


async def _body(request: Request) -> bytes | None:
    """None: too large. All of it is taken in, or the client would see a broken connection instead of the refusal."""
    kept: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BYTES:
            kept.clear()
        else:
            kept.append(chunk)
    return b"".join(kept) if size <= MAX_BYTES else None


def _house(request: Request) -> House:
    """Whose client asks, as far as a path or a header tells."""
    path = request.url.path
    if "anthropic-version" in request.headers or path.endswith("/messages"):
        return Anthropic()
    if "x-goog-api-key" in request.headers or ":" in path or path.startswith(("/v1beta", "/v1alpha")):
        return Google()
    return OpenAI()


def _json(status: int, body: Any) -> Response:
    return Response(encoded(body), status, media_type="application/json")


async def _models(request: Request) -> Response:
    return _json(200, _house(request).models(MODEL_VERSION))


async def _no_such_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"Invalid URL ({request.method} {request.url.path})"
    return _json(error.status_code, _house(request).refusal(error.status_code, message).body)


async def _defect(request: Request, error: Exception) -> Response:
    return _json(500, _house(request).refusal(500, f"a defect of the simulation: {type(error).__name__}").body)
