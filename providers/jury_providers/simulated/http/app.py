"""The server's routes: four protocols, their lists of models, batches, and the counters."""

from datetime import date
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_providers.catalogue import retirements
from jury_providers.simulated.http.backend import SimulationBackend
from jury_providers.simulated.http.batches.jobs import BatchJobs
from jury_providers.simulated.http.batches.routes import batch_routes
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.delivery import NoResponse, Transmission, json_transmission, transmit
from jury_providers.simulated.http.fields import encoded
from jury_providers.simulated.http.generate import Generate
from jury_providers.simulated.http.messages import Messages
from jury_providers.simulated.http.protocol import ProtocolHandler
from jury_providers.simulated.http.provider_errors import AnthropicErrors, GoogleErrors, OpenAIErrors, ProviderErrors
from jury_providers.simulated.http.responses import Responses
from jury_providers.simulated.provider import MODEL_VERSION

MAX_BYTES = 128 << 20
"""Of a request body: a case may have 20 pictures, 100 MB of base64."""

SERVED = "/_simulate/served"

_GOOGLE_VERSIONS = ("v1", "v1beta", "v1alpha")
_VERBS = {"generateContent": False, "streamGenerateContent": True}


def simulation_app(backend: SimulationBackend, jobs: BatchJobs) -> ASGIApp:
    """An ASGI application that answers for every model of every provider, live and in batches."""
    posts: list[tuple[str, ProtocolHandler]] = [
        ("/v1/chat/completions", Chat()),
        ("/v1/responses", Responses()),
        ("/v1/messages", Messages()),
        *backend.vendor.protocols().items(),
        *((f"/{version}/models/{{call:path}}", Generate()) for version in _GOOGLE_VERSIONS),
    ]

    async def model(request: Request) -> Response:
        """One model, with its end as the catalogue knows it, and the window of this server's models."""
        name, window = request.path_params["model"], backend.window
        if "anthropic-version" in request.headers:
            return _json(200, AnthropicErrors.model(name, _end(f"anthropic/{name}"), window))
        if isinstance(_errors_of(request), GoogleErrors):
            return _json(200, GoogleErrors.model(name, window))
        return _json(200, OpenAIErrors.model(name, _end(f"openai/{name}"), window))

    async def served(_request: Request) -> Response:
        return _json(200, backend.served.counts())

    return Starlette(
        routes=[
            *batch_routes(jobs, _GOOGLE_VERSIONS, _errors_of),
            *(Route(path, _ModelEndpoint(backend, protocol), methods=["POST"]) for path, protocol in posts),
            *(Route(f"/{version}/models", _models, methods=["GET"]) for version in _GOOGLE_VERSIONS),
            *(Route(f"/{version}/models/{{model:path}}", model, methods=["GET"]) for version in _GOOGLE_VERSIONS),
            Route(SERVED, served, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _no_such_path, 500: _defect},
    )


class _ModelEndpoint:
    """A route for model calls in one protocol."""

    def __init__(self, backend: SimulationBackend, protocol: ProtocolHandler) -> None:
        self._backend = backend
        self._protocol = protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._backend.served.in_progress():
            try:
                response = await self._response(Request(scope, receive))
            except ClientDisconnect:
                return
            await transmit(response, scope, receive, send)

    async def _response(self, request: Request) -> Transmission | NoResponse:
        path: dict[str, object] = {}
        if "call" in request.path_params:
            model, _, verb = request.path_params["call"].rpartition(":")
            if verb not in _VERBS:
                raise HTTPException(404)
            path = {"model": model, "stream": _VERBS[verb]}
        body = await _body(request)
        if body is None:
            self._backend.served.refused += 1
            message = f"Request exceeds the maximum size of {MAX_BYTES >> 20} MiB."
            return json_transmission(413, self._protocol.errors.refusal(413, message).body)
        return await self._backend.answer(self._protocol, body, path)


async def _body(request: Request) -> bytes | None:
    """The body, read to its end; None if too large. Unread, the client would see a broken connection, not the error."""
    kept: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BYTES:
            kept.clear()
        else:
            kept.append(chunk)
    return b"".join(kept) if size <= MAX_BYTES else None


def _errors_of(request: Request) -> ProviderErrors:
    path = request.url.path
    if "anthropic-version" in request.headers or path.endswith("/messages") or "/messages/" in path:
        return AnthropicErrors()
    if "x-goog-api-key" in request.headers or ":" in path or path.startswith(("/v1beta", "/v1alpha", "/upload/")):
        return GoogleErrors()
    return OpenAIErrors()


def _json(status: int, body: Any) -> Response:
    return Response(encoded(body), status, media_type="application/json")


async def _models(request: Request) -> Response:
    return _json(200, _errors_of(request).models(MODEL_VERSION))


def _end(model: str) -> date | None:
    known = retirements().get(model)
    return None if known is None else known.end


async def _no_such_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"Invalid URL ({request.method} {request.url.path})"
    return _json(error.status_code, _errors_of(request).refusal(error.status_code, message).body)


async def _defect(request: Request, error: Exception) -> Response:
    return _json(500, _errors_of(request).refusal(500, f"a defect of the simulation: {type(error).__name__}").body)
