"""The pages by path: each reads the store, makes its values, and renders a template."""

import re
from typing import NamedTuple

from starlette.responses import Response, StreamingResponse

from jury_events.debate_history import DebateHistory
from jury_events.ids import is_run_id
from jury_events.panel import Language
from jury_events.transcript import picture_type
from jury_judge import SORT_COLUMNS, IntegrityState
from jury_judge.serving.store_reader import StoreReader
from jury_views.drift_view import baseline_report, list_report
from jury_views.event_words import DescribedEvent, event_lines, hash_text
from jury_web.chunks import chunks
from jury_web.pages.debate_page import begun_event, debate_page
from jury_web.pages.exchange_page import ExchangeViews, exchange_of, secrets_of
from jury_web.pages.list_page import PAGE, PAGE_COLUMNS, STAGES, STATUSES, list_page, list_query
from jury_web.pages.page_request import PageNotFound, PageRequest, number
from jury_web.pages.run_page import verdict_bar
from jury_web.pages.single_file import single_file
from jury_web.pages.text_previews import TextPreviews
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

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader

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
        return StreamingResponse(
            chunks(content),
            media_type=picture_type(content) or "text/plain; charset=utf-8",
            headers={"Content-Length": str(len(content)), "X-Content-Type-Options": "nosniff"},
        )

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


def _status(integrity: IntegrityState) -> int:
    """Of a page that shows an altered debate and says so, the status of stored data that cannot be read."""
    return 200 if integrity.intact else 500
