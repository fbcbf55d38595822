"""The addresses of the pages. Store and templates work in threads: every endpoint is a plain function."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from jury_events.errors import EventError, JuryError
from jury_judge.web.pages.page_request import PageRequest
from jury_judge.web.pages.pages import Pages
from jury_store.errors import StoreError
from jury_store.event_store import EventStore


def page_routes(store: EventStore) -> list[BaseRoute]:
    """Every page, and the files that they need, over a store that is open for reading."""
    pages = Pages(store)
    return [
        Route("/", _endpoint(pages.debates)),
        Route("/runs", _endpoint(pages.runs)),
        Route("/runs/{run_id}", _endpoint(pages.run)),
        Route("/compare", _endpoint(pages.compare)),
        Route("/debates/{debate_id}", _endpoint(pages.debate)),
        Route("/debates/{debate_id}/events", _endpoint(pages.events)),
        Route("/debates/{debate_id}/exchanges/{number}", _endpoint(pages.exchange)),
        Route("/debates/{debate_id}/texts/{part}", _endpoint(pages.text)),
        Route("/debates/{debate_id}/export.html", _endpoint(pages.export)),
        Mount("/static", StaticFiles(packages=[("jury_judge.web", "static")])),
    ]


def _endpoint(show: Callable[[PageRequest], Response]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        asked = PageRequest.of(request)
        try:
            return show(asked)
        except JuryError as error:
            damaged = isinstance(error, EventError)
            return asked.html("error.html", "", _status(error), message=str(error), damaged=damaged)

    return endpoint


def _status(error: JuryError) -> int:
    """404: there is no such thing. 503: the database does not answer. 500: what is stored cannot be read."""
    if isinstance(error, StoreError):
        return 503
    return 500 if isinstance(error, EventError) else 404
