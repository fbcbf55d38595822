"""The routes of the pages. Endpoints are plain functions, which Starlette runs in threads."""

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
    """All pages of a store that is open for reading, and their static files."""
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
    def endpoint(received: Request) -> Response:
        request = PageRequest.of(received)
        try:
            return show(request)
        except JuryError as error:
            damaged = isinstance(error, EventError)
            return request.html("error.html", "", _status(error), message=str(error), damaged=damaged)

    return endpoint


def _status(error: JuryError) -> int:
    """404: not found. 503: the store is not available. 500: stored data cannot be read."""
    if isinstance(error, StoreError):
        return 503
    return 500 if isinstance(error, EventError) else 404
