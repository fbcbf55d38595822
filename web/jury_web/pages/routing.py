"""The routes of the pages. Endpoints are plain functions, which Starlette runs in threads."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from jury_events.errors import EventError, Failure, JuryError
from jury_judge.serving.service import Service
from jury_web.pages.page_request import PageRequest
from jury_web.pages.pages import Pages
from jury_web.pages.review_pages import ReviewPages
from jury_web.pages.run_page import RunPages
from jury_web.pages.run_statistics_pages import RunStatisticsPages


def page_routes(service: Service) -> list[BaseRoute]:
    """All pages of a server, and their static files."""
    reader, reports = service.reader, service.reports
    pages = Pages(reader)
    runs = RunPages(reader, service.live_runs, reports)
    run_pages = RunStatisticsPages(reader, reports)
    reviews = ReviewPages(reader, reports, service.reviewing)
    return [
        Route("/", _endpoint(pages.debates)),
        Route("/runs", _endpoint(pages.runs)),
        Route("/runs/{run_id}", _waiting_endpoint(runs.run)),
        Route("/runs/{run_id}/stats", _waiting_endpoint(run_pages.stats)),
        Route("/drift", _endpoint(pages.drifts)),
        Route("/drift/{drift_id}", _endpoint(pages.drift)),
        Route("/compare", _waiting_endpoint(run_pages.compare)),
        Route("/debates/{debate_id}", _endpoint(pages.debate)),
        Route("/debates/{debate_id}/events", _endpoint(pages.events)),
        Route("/debates/{debate_id}/exchanges/{number}", _endpoint(pages.exchange)),
        Route("/debates/{debate_id}/texts/{part}", _endpoint(pages.text)),
        Route("/debates/{debate_id}/transcripts/{scenario}", _endpoint(pages.transcript)),
        Route("/debates/{debate_id}/transcripts/{scenario}/{item}", _endpoint(pages.item)),
        Route("/debates/{debate_id}/export.html", _endpoint(pages.export)),
        Route("/reviews", _endpoint(reviews.queue)),
        Route("/reviewers", _waiting_endpoint(reviews.reviewers)),
        Route("/reviews/{debate_id}", _endpoint(reviews.review), methods=["GET"]),
        Route("/reviews/{debate_id}", _form_endpoint(reviews.record), methods=["POST"]),
        Route("/reviews/{debate_id}/texts/{part}", _endpoint(reviews.text)),
        Route("/reviews/{debate_id}/transcripts/{scenario}", _endpoint(reviews.transcript)),
        Route("/reviews/{debate_id}/transcripts/{scenario}/{item}", _endpoint(reviews.item)),
        Mount("/static", StaticFiles(packages=[("jury_web", "static")])),
    ]


def _endpoint(show: Callable[[PageRequest], Response]) -> Callable[[Request], Response]:
    def endpoint(received: Request) -> Response:
        request = PageRequest.of(received)
        try:
            return show(request)
        except JuryError as error:
            return _problem(request, error)

    return endpoint


def _waiting_endpoint(show: Callable[[PageRequest], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Of a page that waits for a report without holding a thread."""

    async def endpoint(received: Request) -> Response:
        request = PageRequest.of(received)
        try:
            return await show(request)
        except JuryError as error:
            return _problem(request, error)

    return endpoint


def _form_endpoint(receive: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Of a page that receives a form."""

    async def endpoint(received: Request) -> Response:
        try:
            return await receive(received)
        except JuryError as error:
            return _problem(PageRequest.of(received), error)

    return endpoint


def _problem(request: PageRequest, error: JuryError) -> Response:
    damaged = isinstance(error, EventError)
    return request.html("error.html", "", _status(error), message=str(error), damaged=damaged)


def _status(error: JuryError) -> int:
    """404: not found. 503: the store is not available. 500: stored data cannot be read."""
    if isinstance(error, EventError):
        return 500
    return 503 if error.failure in {Failure.UNAVAILABLE, Failure.STOPPED, Failure.ALTERED} else 404
