"""The ASGI application: the walls, the HTTP interface, and the pages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import NamedTuple

from fastapi import FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from jury_judge.web.api import debates, exchanges, live, runs, submissions
from jury_judge.web.api.error_responses import add_error_handlers
from jury_judge.web.body_limits import MAX_ALL_BODIES, MAX_BODY, BodyLengthMiddleware, BodyLimitMiddleware
from jury_judge.web.login import login_route
from jury_judge.web.middleware import HostMiddleware, OriginMiddleware, SecurityHeadersMiddleware, TokenMiddleware
from jury_judge.web.service import Service
from jury_judge.web.token_attempts import TokenAttempts

_ABOUT = """Debates of a jury of LLM jurors: submitted, listed, read, followed live, replayed and rescored.

Every error has the fields `error` and `remedy`. Live events: `docs/live-events.md`, `/schemas/sse-events.json`,
`/schemas/websocket-frames.json`."""


class AccessPolicy(NamedTuple):
    """Who may come in.

    Args:
        names: `Host` headers that are ours, lower case, with the port.
        own_address: the address that a connection came to is ours too.
        token: what has to be known; None: nothing, which is for loopback alone.
        max_body: bytes of a request.
        max_all_bodies: bytes of all requests together.
    """

    names: frozenset[str]
    own_address: bool = False
    token: str | None = None
    max_body: int = MAX_BODY
    max_all_bodies: int = MAX_ALL_BODIES


def create_app(service: Service, gate: AccessPolicy, pages: Sequence[BaseRoute] = ()) -> ASGIApp:
    """The application over a service, which is closed when the server ends.

    Args:
        service: what requests are served from.
        gate: who may come in.
        pages: further routes, behind the same walls.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="Jury Judge",
        version=version("jury-judge"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    for router in (debates.router, exchanges.router, live.router, submissions.router, runs.router):
        app.include_router(router)
    add_error_handlers(app)
    tries = TokenAttempts()
    if gate.token is not None:
        app.router.routes.append(login_route(gate.token, tries))
    live.add_websocket_errors(app)
    app.router.routes.extend(pages)
    return with_middleware(app, gate, tries)


def with_middleware(app: ASGIApp, gate: AccessPolicy, tries: TokenAttempts) -> ASGIApp:
    """`app` behind the walls; `tries` of the token are counted at its login page too."""
    inner: ASGIApp = BodyLimitMiddleware(app, gate.max_body, gate.max_all_bodies)
    if gate.token is not None:
        inner = TokenMiddleware(inner, gate.token, tries)
    return SecurityHeadersMiddleware(
        BodyLengthMiddleware(HostMiddleware(OriginMiddleware(inner), gate.names, own_address=gate.own_address))
    )
