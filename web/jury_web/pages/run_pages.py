"""The page of a run: its counts and charts, and beside labels what the statistics of the run say."""

import asyncio

from starlette.responses import Response

from jury_events.conditions import parse_field
from jury_events.ids import is_run_id
from jury_events.verdict import FAIL
from jury_judge import DebateFilter
from jury_judge.comparisons.run_comparison import fields_there, grouped
from jury_judge.running.live_run import LiveRuns
from jury_judge.serving.store_reader import StoreReader
from jury_judge.statistics.run_reports import RunReports
from jury_views.charts.shapes import LabelledPanel, labelled_panels
from jury_views.run_quotations import QuotationCount
from jury_web.pages.disagreements import (
    MOST,
    SHOWN,
    JudgedAlike,
    SplitVoting,
    has_labels,
    judged_alike,
    label_disagreements,
)
from jury_web.pages.page_request import PageNotFound, PageRequest
from jury_web.pages.run_page import LATEST, run_page
from jury_web.pages.run_statistics_pages import REFUSALS, RefusedReport, refused_report

_GROUPS = 200


class RunPages:
    """Pages of a store that is open for reading. Each raises a `JuryError` where it cannot be shown.

    Args:
        reader: reads the store.
        live_runs: figures of its runs.
        reports: statistics of its runs.
    """

    def __init__(self, reader: StoreReader, live_runs: LiveRuns, reports: RunReports) -> None:
        self._reader, self._live_runs, self._reports = reader, live_runs, reports

    async def run(self, request: PageRequest) -> Response:
        """`/runs/{run_id}`, grouped by a field of the cases with `?group_by=`; `?split=all`: more split votes."""
        run_id = request.path["run_id"]
        found = await asyncio.to_thread(self._reader.run, run_id) if is_run_id(run_id) else None
        if found is None:
            raise PageNotFound("there is no run of that id in this store; the page of runs lists the runs")
        panels: tuple[LabelledPanel, ...] = ()
        refused: RefusedReport | None = None
        labelled = await asyncio.to_thread(has_labels, self._reader, run_id)
        over = found.ended == found.debates and found.total in {None, found.debates}
        if labelled and over:
            try:
                simulated = await asyncio.to_thread(self._simulated, run_id)
                panels = labelled_panels(await self._reports.statistics(run_id, simulated=simulated))
            except REFUSALS as error:
                refused = refused_report(error)
        return await asyncio.to_thread(self._page, request, labelled, panels, refused)

    def _simulated(self, run_id: str) -> bool:
        """Whether every debate of the run is simulated: such a run has no other figures."""
        return not self._reader.debates(DebateFilter(run_id, simulated=False), limit=1)

    def _page(
        self,
        request: PageRequest,
        labelled: bool,
        panels: tuple[LabelledPanel, ...],
        refused: RefusedReport | None,
    ) -> Response:
        run_id = request.path["run_id"]
        found = self._reader.run(run_id)
        if found is None:
            raise PageNotFound("there is no run of that id in this store; the page of runs lists the runs")
        latest = self._reader.debates(DebateFilter(run_id=run_id), limit=LATEST)
        by = request.query.get("group_by", "").strip()
        field = parse_field(by) if by else None
        groups = grouped(latest, field) if field else []
        voting, counted = SplitVoting(), QuotationCount()
        histories = self._reader.events_of([row.debate_id for row in latest])
        page = run_page(found, latest, counted.noted(voting.noted(histories)))
        differences: tuple[JudgedAlike, ...] = label_disagreements(self._reader, run_id) if labelled else ()
        failed = None if labelled else judged_alike(self._reader, run_id, FAIL)
        split = voting.farthest(latest, most=MOST if request.query.get("split") == "all" else SHOWN)
        shown = [row for group in (*differences, *([failed] if failed else ())) for row in group.shown]
        shown += [one.debate for one in split.shown]
        return request.html(
            "run.html",
            "runs",
            page=page,
            quoted=counted.found(latest),
            live=self._live_runs.read(run_id) if page.running else None,
            group_by=field,
            groups=groups[:_GROUPS],
            more_groups=max(0, len(groups) - _GROUPS),
            fields=fields_there(latest),
            labelled=labelled,
            panels=panels,
            refused=refused,
            differences=differences,
            split=split,
            failed=failed,
            reasons=self._reader.reasons(list(dict.fromkeys(row.debate_id for row in shown))),
            most_split=MOST,
        )
