"""The pages that wait for statistics: those of a run, and the comparison of two."""

import asyncio
from typing import NamedTuple

from starlette.responses import Response

from jury_events.errors import DebateNotFound, EventError, JuryError, install_line
from jury_events.ids import is_run_id
from jury_judge import AnalysisError, DebateFilter, OnlySimulated
from jury_judge.comparisons.comparing import KINDS, SHOWN, ComparedDebates, ComparedRuns
from jury_judge.errors import ExtraMissing, RunTooLarge, TooManyReports
from jury_judge.serving.store_reader import StoreReader
from jury_judge.settings.statistics import COUNTS
from jury_judge.statistics.run_reports import RunReports
from jury_views.conclusion import NOTHING_BESIDE, FactsOfRun
from jury_views.gate_view import gate_in_words
from jury_web.pages.page_request import PageNotFound, PageRequest


class RefusedReport(NamedTuple):
    """Why a report is not shown: a name in the label catalogue, a command that helps, the message of the error."""

    label: str
    command: str = ""
    message: str = ""
    simulated: bool = False


class RunStatisticsPages:
    """Pages of a store that is open for reading. Each raises a `JuryError` where it cannot be shown."""

    def __init__(self, reader: StoreReader, reports: RunReports) -> None:
        self._reader, self._reports = reader, reports

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


REFUSALS = (ExtraMissing, AnalysisError, DebateNotFound, RunTooLarge, TooManyReports)


def refused_report(error: JuryError) -> RefusedReport:
    """What the page says of one of `REFUSALS`."""
    if isinstance(error, ExtraMissing):
        return RefusedReport("stats_extra", command=install_line("stats"))
    if isinstance(error, OnlySimulated):
        return RefusedReport("simulated", simulated=True)
    if isinstance(error, DebateNotFound):
        return RefusedReport("stats_no_votes")
    if isinstance(error, TooManyReports):
        return RefusedReport("stats_busy")
    return RefusedReport("stats_impossible", message=str(error))
