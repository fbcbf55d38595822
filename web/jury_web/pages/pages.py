"""The pages by path: each reads the store, makes its values, and renders a template."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError, Failure, JuryError
from jury_events.ids import is_run_id
from jury_events.panel import Language
from jury_events.transcript import picture_type
from jury_judge import SORT_COLUMNS, DebateFilter, IntegrityState
from jury_judge.comparisons.comparing import KINDS, SHOWN, ComparedDebates, ComparedRuns
from jury_judge.reports.run_reports import RunReports
from jury_judge.serving.service import Service
from jury_judge.serving.store_reader import StoreReader
from jury_judge.settings.statistics import COUNTS
from jury_views.conclusion import NOTHING_BESIDE, FactsOfRun
from jury_views.drift_view import baseline_report, list_report
from jury_views.event_words import DescribedEvent, event_lines, hash_text
from jury_views.gate_view import gate_in_words
from jury_web.pages.debate_page import begun_event, debate_page, single_file
from jury_web.pages.exchange_page import ExchangeViews, exchange_of, secrets_of
from jury_web.pages.list_page import PAGE, PAGE_COLUMNS, STAGES, STATUSES, list_page, list_query
from jury_web.pages.page_request import REFUSALS, PageNotFound, PageRequest, content_response, number, refused_report
from jury_web.pages.review_pages import ReviewPages
from jury_web.pages.run_page import RunPages, verdict_bar
from jury_web.pages.shown_items import TextPreviews
from jury_web.pages.transcript_page import item_response, transcript_response

EVENTS_PAGE = 200
"""Events on one page."""

_ANCHORS = {"debate": "e", "calls": "c", "review": "r"}


class EventRow(NamedTuple):
    """An event, its 32-byte hash in hexadecimal, and its anchor: `e-17` in the debate stream, `c-3` in the calls,
    `r-2` in the reviews."""

    line: DescribedEvent
    hash: str
    anchor: str


class EventsPage(NamedTuple):
    """Some of the events; `after` is the position after which the next page begins, None on the last page."""

    debate_id: str
    case_id: str
    rows: tuple[EventRow, ...]
    total: int
    after: int | None


def events_page(reading: DebateHistory, case_id: str, language: Language, after: int = 0) -> EventsPage:
    """The events after position `after`, described in `language`."""
    stored = sorted(
        (*reading.stored_events, *reading.stored_exchanges, *reading.stored_reviews), key=lambda one: one.position
    )
    beyond = [one for one in stored if one.position > after]
    shown = beyond[:EVENTS_PAGE]
    rows = (
        EventRow(line, hash_text(one.hash), f"{_ANCHORS[line.stream]}-{line.version}")
        for line, one in zip(event_lines(stored, after=after, limit=EVENTS_PAGE, language=language), shown, strict=True)
    )
    return EventsPage(
        reading.debate_id,
        case_id,
        tuple(rows),
        len(stored),
        shown[-1].position if len(beyond) > len(shown) else None,
    )


_PART = re.compile(r"[A-Za-z0-9_-]{43}")
_RUNS = 100


class Pages:
    """The pages of a store that is open for reading. Each raises a `JuryError` where it cannot be shown."""

    def __init__(self, reader: StoreReader, reports: RunReports) -> None:
        self._reader, self._reports = reader, reports

    def debates(self, request: PageRequest) -> Response:
        """`/`: the list."""
        query = list_query(request.query, request.every("where"), request.every("columns"))
        found = self._reader.debates(query.chosen, query.sorting, limit=PAGE + 1, after=query.place)
        page = list_page(self._reader, found, query)
        return request.html(
            "list.html",
            "debates",
            page=page,
            query=query,
            totals=self._reader.totals(query.chosen) if query.totals else None,
            unindexed=self._reader.search_lag() if query.search else 0,
            statuses=STATUSES,
            stages=STAGES,
            columns=PAGE_COLUMNS,
            sorts=SORT_COLUMNS,
        )

    def runs(self, request: PageRequest) -> Response:
        """`/runs`: all runs, newest first."""
        before = number("before", request.query)
        runs = self._reader.runs(before)
        shown = runs[:_RUNS]
        return request.html(
            "runs.html",
            "runs",
            runs=[(run, verdict_bar(run)) for run in shown],
            newer=before is not None,
            before=shown[-1].position if len(runs) > len(shown) else None,
        )

    def drifts(self, request: PageRequest) -> Response:
        """`/drift`: the baselines of drift checks, and what their last checks found."""
        return request.html("drift.html", "drift", report=list_report(self._reader.drifts()))

    def drift(self, request: PageRequest) -> Response:
        """`/drift/{drift_id}`: a baseline, the curve of the evidence, and its checks."""
        drift_id = request.path["drift_id"]
        if not is_run_id(drift_id):
            raise PageNotFound("there is no baseline of that id in this store; the page of drift checks lists them")
        return request.html("drift.html", "drift", report=baseline_report(self._reader.drift(drift_id)))

    def debate(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}`, after an event with `?at=` its version."""
        reading = self._reader.found_history(request.debate_id)
        (integrity,) = self._reader.integrity([reading])
        page = debate_page(reading, integrity, number("at", request.query))
        first = reading.stored_events[0]
        around = self._reader.neighbours(page.opened.run_id, first.position)
        return request.html(
            "debate.html",
            "debates",
            _status(integrity),
            page=page,
            around=around,
            exchanges=None,
            opened_at=first.recorded_at,
            begun=begun_event(reading),
        )

    def events(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/events`."""
        reading = self._reader.found_history(request.debate_id)
        (integrity,) = self._reader.integrity([reading])
        page = events_page(reading, reading.opened.case_id, request.lang, number("after", request.query) or 0)
        return request.html("events.html", "debates", _status(integrity), page=page, integrity=integrity)

    def exchange(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/exchanges/{number}`: one model call."""
        reading = self._reader.history(request.debate_id)
        line = exchange_of(reading, number("number", request.path) or 0)
        previews = TextPreviews(reading.texts, reading.erased)
        opened = reading.opened
        view = ExchangeViews(opened, previews).view(line)
        return request.html("exchange.html", "debates", view=view, opened=opened)

    def text(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/texts/{part}`: the stored bytes of a text, streamed."""
        reading = self._reader.history(request.debate_id)
        part = request.path["part"]
        content = reading.texts.get(part) if _PART.fullmatch(part) else None
        if content is None or part in secrets_of(reading):
            raise PageNotFound(f"debate {reading.debate_id} has no such text, or it was erased")
        return content_response(content, picture_type(content))

    def transcript(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/transcripts/{scenario}`: some items of a long transcript, or those with a text."""
        return transcript_response(self._reader.history(request.debate_id), request)

    def item(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/transcripts/{scenario}/{item}`: the whole text of an item, streamed."""
        return item_response(self._reader.history(request.debate_id), request)

    def export(self, request: PageRequest) -> Response:
        """`/debates/{debate_id}/export.html`: the debate as one file."""
        reading = self._reader.found_history(request.debate_id)
        (integrity,) = self._reader.integrity([reading])
        return StreamingResponse(
            single_file(reading, integrity, request.lang),
            _status(integrity),
            media_type="text/html; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{reading.debate_id}.html"'},
        )

    async def stats(self, request: PageRequest) -> Response:
        """`/runs/{run_id}/stats`, with `?include_simulated=true` of simulated debates too."""
        run_id = request.path["run_id"]
        simulated = request.query.get("include_simulated") == "true"
        if not is_run_id(run_id) or not await asyncio.to_thread(self._has, run_id):
            raise PageNotFound("there is no run of that id in this store; the page of runs lists the runs")
        report, worth, beside, refused = None, None, NOTHING_BESIDE, None
        try:
            found = await self._reports.page(run_id, simulated=simulated)
            report, worth, beside = found.statistics, found.worth, FactsOfRun(rates=found.true_rates, drift=found.drift)
        except REFUSALS as error:
            refused = refused_report(error)
        return request.html(
            "stats.html",
            "runs",
            200 if refused is None or refused.label != "stats_busy" else 503,
            run_id=run_id,
            report=report,
            worth=worth,
            beside=beside,
            refused=refused,
            include_simulated=simulated,
        )

    async def compare(self, request: PageRequest) -> Response:
        """`/compare?a=&b=`, of two runs with `?count=labels|outcomes`."""
        a, b = (request.query.get(side, "").strip()[:220] for side in "ab")
        kind = next((one for one in KINDS if one == request.query.get("kind")), None)
        count = next((one for one in COUNTS if one == request.query.get("count")), None)
        page, unreadable = None, None
        try:
            page = await asyncio.to_thread(self._reader.compare, a, b, kind, count=count) if a and b else None
        except EventError as error:
            unreadable = str(error)
        report = refused = None
        if isinstance(page, ComparedRuns):
            try:
                report = await self._reports.gate(a, b, count)
            except REFUSALS as error:
                refused = refused_report(error)
        return request.html(
            "compare.html",
            "compare",
            a=a,
            b=b,
            kind=kind,
            kinds=KINDS,
            count=count,
            counts=COUNTS,
            page=page,
            unreadable=unreadable,
            debates=isinstance(page, ComparedDebates),
            shown=SHOWN,
            gate=None if report is None else gate_in_words(a, b, report),
            paired=None if report is None else report.paired,
            refused=refused,
        )

    def _has(self, run_id: str) -> bool:
        return bool(self._reader.debates(DebateFilter(run_id), limit=1))


def _status(integrity: IntegrityState) -> int:
    """Of a page that shows an altered debate and says so, the status of stored data that cannot be read."""
    return 200 if integrity.intact else 500


def page_routes(service: Service) -> list[BaseRoute]:
    reader, reports = service.reader, service.reports
    pages = Pages(reader, reports)
    runs = RunPages(reader, service.live_runs, reports)
    reviews = ReviewPages(reader, reports, service.reviewing)
    return [
        Route("/", _endpoint(pages.debates)),
        Route("/runs", _endpoint(pages.runs)),
        Route("/runs/{run_id}", _waiting_endpoint(runs.run)),
        Route("/runs/{run_id}/stats", _waiting_endpoint(pages.stats)),
        Route("/drift", _endpoint(pages.drifts)),
        Route("/drift/{drift_id}", _endpoint(pages.drift)),
        Route("/compare", _waiting_endpoint(pages.compare)),
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
        Route("/reviews/{debate_id}/transcripts/{scenario}/{item}", _endpoint(pages.item)),
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
    return _form_endpoint(lambda received: show(PageRequest.of(received)))


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
    return request.html("error.html", "", _problem_status(error), message=str(error), damaged=damaged)


def _problem_status(error: JuryError) -> int:
    """404: not found. 503: the store is not available. 500: stored data cannot be read."""
    if isinstance(error, EventError):
        return 500
    return 503 if error.failure in {Failure.UNAVAILABLE, Failure.STOPPED, Failure.ALTERED} else 404
