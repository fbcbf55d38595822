"""The ASGI application: the walls, the HTTP interface, and the pages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import NamedTuple

from fastapi import FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from jury_judge.web.api import debates, exchanges, live, runs, submitting
from jury_judge.web.api.problems import answer_problems
from jury_judge.web.bodies import MAX_BODIES, MAX_BODY, Bodies, OneLength
from jury_judge.web.login import login_route
from jury_judge.web.service import Service
from jury_judge.web.tries import Tries
from jury_judge.web.walls import Hosts, Origins, SecurityHeaders, Token

_ABOUT = """Debates of a jury of LLM jurors: submitted, listed, read, followed live, replayed and rescored.

Every error has the fields `error` and `remedy`. Live events: `docs/live-events.md`, `/schemas/sse-events.json`,
`/schemas/websocket-frames.json`."""


class Gate(NamedTuple):
    """Who may come in.

    Args:
        names: `Host` headers that are ours, lower case, with the port.
        own_address: the address that a connection came to is ours too.
        token: what has to be known; None: nothing, which is for loopback alone.
        max_body: bytes of a request.
        max_bodies: bytes of all requests together.
    """

    names: frozenset[str]
    own_address: bool = False
    token: str | None = None
    max_body: int = MAX_BODY
    max_bodies: int = MAX_BODIES


def create_app(service: Service, gate: Gate, pages: Sequence[BaseRoute] = ()) -> ASGIApp:
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
    for router in (debates.router, exchanges.router, live.router, submitting.router, runs.router):
        app.include_router(router)
    answer_problems(app)
    tries = Tries()
    if gate.token is not None:
        app.router.routes.append(login_route(gate.token, tries))
    live.deny_sockets(app)
    app.router.routes.extend(pages)
    return walled(app, gate, tries)


def walled(app: ASGIApp, gate: Gate, tries: Tries) -> ASGIApp:
    """`app` behind the walls; `tries` of the token are counted at its login page too."""
    inner: ASGIApp = Bodies(app, gate.max_body, gate.max_bodies)
    if gate.token is not None:
        inner = Token(inner, gate.token, tries)
    return SecurityHeaders(OneLength(Hosts(Origins(inner), gate.names, own_address=gate.own_address)))
