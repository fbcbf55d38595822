"""The simulation server on uvicorn with its routes, for the command `jury simulate` and for tests of model clients.

Where two providers have the same path for batches, the client's headers decide.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from email.utils import formatdate
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from jury_events.listening import listening_socket
from jury_providers.catalogue import retirements
from jury_providers.simulated.http.backend import (
    ABORT,
    NO_VENDOR,
    NoResponse,
    ServerCounters,
    SimulationBackend,
    Transmission,
    Vendor,
    json_transmission,
    transmit,
)
from jury_providers.simulated.http.batches.anthropic import AnthropicBatchServer
from jury_providers.simulated.http.batches.google import GoogleBatchServer
from jury_providers.simulated.http.batches.jobs import Answer, Ask, BatchJobs
from jury_providers.simulated.http.batches.openai import OpenAIBatchServer
from jury_providers.simulated.http.chat import Chat
from jury_providers.simulated.http.fields import encoded
from jury_providers.simulated.http.generate import Generate
from jury_providers.simulated.http.messages import Messages
from jury_providers.simulated.http.protocol import (
    AnthropicErrors,
    GoogleErrors,
    OpenAIErrors,
    ProtocolHandler,
    ProviderErrors,
)
from jury_providers.simulated.http.responses import Responses
from jury_providers.simulated.provider import MODEL_VERSION
from jury_providers.simulated.script import NO_FAULTS, Script

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


HEADER = ("x-jury-simulated", "1")
"""On every response, so that none can be mistaken for a model's."""

_BACKLOG = 4096

_KEEP_ALIVE_SECONDS = 75
"""For which an idle connection is kept: longer than clients keep theirs.

uvicorn's own 5 s end while clients still use the connection. A request that is sent as it ends is lost: the client sees
a broken connection, and no request was served.
"""


class Simulation(NamedTuple):
    """A running server: its URL without a path, its counters, and whether it listens on a loopback address only.

    `batches`: those that were submitted.
    """

    url: str
    served: ServerCounters
    loopback: bool
    batches: BatchJobs

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that direct the providers' clients to it."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_BASE_URL": self.url,
            "GOOGLE_GEMINI_BASE_URL": self.url,
        }


@asynccontextmanager
async def simulation_server(
    script: Script = NO_FAULTS,
    seed: int = 0,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    window: int | None = None,
    vendor: Vendor = NO_VENDOR,
    batches: Callable[[SimulationBackend], BatchJobs] = BatchJobs,
) -> AsyncIterator[Simulation]:
    """Serve simulated models in this event loop, within the context.

    Args:
        script: latency and faults; a `WireScript` has wire faults too.
        port: 0: any free port.
        window: of its models in tokens, as in `SimulationBackend`.
        vendor: what a provider does beside answering.
        batches: makes the batches of the server; their clock is also the time on every response.
    """
    listener = listening_socket(host, port, _BACKLOG)
    address = ip_address(listener.getsockname()[0])
    url, loopback = f"http://{_authority(address)}:{listener.getsockname()[1]}", address.is_loopback
    backend = SimulationBackend(script, seed, window=window, vendor=vendor)
    jobs = batches(backend)
    config = uvicorn.Config(
        _dated(simulation_app(backend, jobs), jobs.clock),
        http=_Protocol,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        headers=[HEADER],
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        # Requests still open then are hanging on purpose, or late.
        timeout_graceful_shutdown=0,
    )
    server = _SimulationServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield Simulation(url, backend.served, loopback, jobs)
    finally:
        server.should_exit = True
        await serving
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        await jobs.close()


def _dated(app: ASGIApp, wall_clock: Callable[[], float]) -> ASGIApp:
    """The application with the time of its own clock on every response, by which clients read how old a batch is."""

    async def dated(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = formatdate(wall_clock(), usegmt=True).encode()
                message = {**message, "headers": [*message.get("headers", ()), (b"date", date)]}
            await send(message)

        await app(scope, receive, sent)

    return dated


class _SimulationServer(uvicorn.Server):
    """Leaves the process's signal handlers unchanged."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(H11Protocol):
    """Lets the application drop a connection, which ASGI does not support."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        app = self.app

        async def droppable(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {ABORT: self.transport.abort}
            await app(scope, receive, send)

        self.app = droppable


def _authority(address: IPv4Address | IPv6Address) -> str:
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"  # noqa: PLR2004  (of the Internet ProtocolHandler)
    return str(address) if address.version == 4 else f"[{address}]"  # noqa: PLR2004  (IPv4)


def batch_routes(
    jobs: BatchJobs, versions: Iterable[str], errors_of: Callable[[Request], ProviderErrors]
) -> list[Route]:
    """All routes; they come before those of model calls."""
    openai, anthropic, google = OpenAIBatchServer(jobs), AnthropicBatchServer(jobs), GoogleBatchServer(jobs)

    def either(ask_openai: Ask, ask_google: Ask) -> Ask:
        async def answer(request: Request) -> Answer:
            is_google = isinstance(errors_of(request), GoogleErrors)
            return await (ask_google if is_google else ask_openai)(request)

        return answer

    def route(path: str, method: str, call: str, ask: Ask, name: str | None = None) -> Route:
        return Route(path, jobs.route(call, errors_of, ask), methods=[method], name=name)

    messages = "/v1/messages/batches"
    found = [
        route("/v1/files", "POST", "upload", openai.upload),
        route("/v1/files/{id}/content", "GET", "results", openai.content),
        route("/v1/batches", "POST", "submit", openai.submit),
        route("/v1/batches/{id}/cancel", "POST", "cancel", openai.cancel),
        route(messages, "POST", "submit", anthropic.submit),
        route(messages, "GET", "list", anthropic.listed),
        route(f"{messages}/{{id}}", "GET", "state", anthropic.one),
        route(f"{messages}/{{id}}/cancel", "POST", "cancel", anthropic.cancel),
        route(f"{messages}/{{id}}/results", "GET", "results", anthropic.results, "anthropic_results"),
        route("/v1/batches", "GET", "list", either(openai.listed, google.listed)),
    ]
    for version in versions:
        is_openai = version == "v1"
        one = either(openai.one, google.one) if is_openai else google.one
        found += [
            route(f"/upload/{version}/files", "POST", "upload", google.upload),
            route(f"/{version}/models/{{model:path}}:batchGenerateContent", "POST", "submit", google.submit),
            route(f"/{version}/batches", "GET", "list", google.listed),
            route(f"/{version}/batches/{{id}}:cancel", "POST", "cancel", google.cancel),
            route(f"/{version}/batches/{{id}}", "GET", "state", one),
            route(f"/{version}/files/{{id}}:download", "GET", "results", google.download),
        ]
    return found
