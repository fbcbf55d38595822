"""What each address shows: reads the store, makes the page's values, renders its template."""

import re
from collections.abc import Iterator

from starlette.responses import Response, StreamingResponse

from jury_events.conditions import parse_field
from jury_events.errors import EventError
from jury_events.ids import is_debate_id, is_run_id
from jury_judge.cases.transcripts.builder import picture_type
from jury_judge.groups import fields_there, grouped
from jury_judge.kinds import KINDS
from jury_judge.web.pages.asked import Asked, NoSuchPage, number
from jury_judge.web.pages.compare_page import SHOWN, ComparedDebates, compared
from jury_judge.web.pages.debate_page import debate_page
from jury_judge.web.pages.debate_reading import PageReading, page_reading
from jury_judge.web.pages.events_page import events_page
from jury_judge.web.pages.exchange_page import ExchangeShelf, exchange_of, secrets_of
from jury_judge.web.pages.integrity_state import integrity_states
from jury_judge.web.pages.list_page import PAGE, list_page
from jury_judge.web.pages.list_query import PAGE_COLUMNS, STATUSES, list_query
from jury_judge.web.pages.neighbours import neighbours
from jury_judge.web.pages.run_page import LATEST, run_page, verdict_bar
from jury_judge.web.pages.single_file import single_file
from jury_judge.web.pages.texts import TextShelf
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore
from jury_store.list_order import SORT_COLUMNS

_PART = re.compile(r"[A-Za-z0-9_-]{43}")
_CHUNK = 64 * 1024
_RUNS = 100
_GROUPS = 200


class Pages:
    """The pages over one store, which is open for reading. Each raises a `JuryError` where it cannot be shown."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    def debates(self, asked: Asked) -> Response:
        """`/`: the list."""
        query = list_query(asked.query, asked.every("where"), asked.every("columns"))
        found = self._store.list_debates(query.wanted, query.order, limit=PAGE + 1, after=query.after)
        page = list_page(self._store, found, query)
        return asked.html(
            "list.html",
            "debates",
            page=page,
            query=query,
            totals=self._store.totals(query.wanted) if query.totals else None,
            behind=self._store.search_lag() if query.text else 0,
            statuses=STATUSES,
            columns=PAGE_COLUMNS,
            sorts=SORT_COLUMNS,
        )

    def runs(self, asked: Asked) -> Response:
        """`/runs`: every run, the newest first."""
        before = number("before", asked.query)
        runs = [run for run in reversed(self._store.runs()) if before is None or run.position < before]
        shown = runs[:_RUNS]
        return asked.html(
            "runs.html",
            "runs",
            runs=[(run, verdict_bar(run)) for run in shown],
            newer=before is not None,
            before=shown[-1].position if len(runs) > len(shown) else None,
        )

    def run(self, asked: Asked) -> Response:
        """`/runs/{run_id}`, `?group_by=` a field of the cases."""
        run_id = asked.path["run_id"]
        found = None
        if is_run_id(run_id):
            found = next((run for run in self._store.runs() if run.run_id == run_id), None)
        if found is None:
            raise NoSuchPage("there is no run of that id in this store; the page of runs shows those that there are")
        latest = self._store.list_debates(DebateFilter(run_id=run_id), limit=LATEST)
        by = asked.query.get("group_by", "").strip()
        field = parse_field(by) if by else None
        groups = grouped(latest, field) if field else []
        return asked.html(
            "run.html",
            "runs",
            page=run_page(self._store, found, latest),
            group_by=field,
            groups=groups[:_GROUPS],
            more_groups=max(0, len(groups) - _GROUPS),
            fields=fields_there(latest),
        )

    def compare(self, asked: Asked) -> Response:
        """`/compare?a=&b=`."""
        a, b = (asked.query.get(side, "").strip()[:220] for side in "ab")
        kind = next((one for one in KINDS if one == asked.query.get("kind")), None)
        page, unreadable = None, None
        try:
            page = compared(self._store, a, b, kind) if a and b else None
        except EventError as error:
            unreadable = str(error)
        debates = isinstance(page, ComparedDebates)
        return asked.html(
            "compare.html",
            "compare",
            a=a,
            b=b,
            kind=kind,
            kinds=KINDS,
            page=page,
            unreadable=unreadable,
            debates=debates,
            shown=SHOWN,
        )

    def debate(self, asked: Asked) -> Response:
        """`/debates/{debate_id}`, `?at=` an event's version."""
        reading = self._reading(asked)
        (integrity,) = integrity_states(self._store, [reading.record])
        page = debate_page(reading, integrity, number("at", asked.query))
        first = reading.stored[0]
        around = neighbours(self._store, page.opened.run_id, first.position)
        return asked.html(
            "debate.html", "debates", page=page, around=around, exchanges=None, opened_at=first.recorded_at
        )

    def events(self, asked: Asked) -> Response:
        """`/debates/{debate_id}/events`."""
        reading = self._reading(asked)
        page = events_page(reading, reading.opened.case_id, asked.lang, number("after", asked.query) or 0)
        return asked.html("events.html", "debates", page=page)

    def exchange(self, asked: Asked) -> Response:
        """`/debates/{debate_id}/exchanges/{number}`: one model call."""
        reading = self._reading(asked)
        line = exchange_of(reading, number("number", asked.path) or 0)
        shelf = TextShelf(reading.texts, reading.erased)
        opened = reading.opened
        view = ExchangeShelf(opened, shelf).view(line)
        return asked.html("exchange.html", "debates", view=view, opened=opened)

    def text(self, asked: Asked) -> Response:
        """`/debates/{debate_id}/texts/{part}`: the bytes of a text as they were received, streamed."""
        reading = self._reading(asked)
        part = asked.path["part"]
        content = reading.texts.get(part) if _PART.fullmatch(part) else None
        if content is None or part in secrets_of(reading):
            raise NoSuchPage(f"debate {reading.debate_id} has no such text, or it was erased")
        return StreamingResponse(
            _pieces(content),
            media_type=picture_type(content) or "text/plain; charset=utf-8",
            headers={"Content-Length": str(len(content)), "X-Content-Type-Options": "nosniff"},
        )

    def export(self, asked: Asked) -> Response:
        """`/debates/{debate_id}/export.html`: the debate as one file."""
        reading = self._reading(asked)
        (integrity,) = integrity_states(self._store, [reading.record])
        return StreamingResponse(
            single_file(reading, integrity, asked.lang),
            media_type="text/html; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{reading.debate_id}.html"'},
        )

    def _reading(self, asked: Asked) -> PageReading:
        debate_id = asked.path["debate_id"]
        if not is_debate_id(debate_id):
            raise NoSuchPage("this is no debate's id; the list shows those that there are")
        return page_reading(self._store, debate_id)


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _CHUNK):
        yield content[start : start + _CHUNK]
