"""The page of a run: progress, verdicts, scores, changed positions, cost."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from starlette.responses import Response

from jury_events.conditions import parse_conditions, parse_field
from jury_events.debate_events import JudgmentRendered, JurorAbstained
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_events.evaluation import SeatPosition
from jury_events.ids import Step, is_run_id
from jury_events.judgment import Vote
from jury_events.verdict import FAIL, LABEL_DIFFERENCES, PASS, Verdict
from jury_judge import DebateFilter, DebateRow, RunRow
from jury_judge.comparisons.run_comparison import fields_there, grouped
from jury_judge.reports.run_reports import RunReports
from jury_judge.runs.live_run import LiveRuns
from jury_judge.runs.usage import uncached_of_debates
from jury_judge.serving.store_reader import StoreReader
from jury_views.charts import (
    Columns,
    LabelledPanel,
    Path,
    Segment,
    columns,
    growing_line,
    labelled_panels,
    stacked_bar,
)
from jury_views.debate_fold import answered_in_stream, position_changes
from jury_views.run_quotations import QuotationCount
from jury_web.pages.list_page import ListQuery
from jury_web.pages.page_request import REFUSALS, PageNotFound, PageRequest, RefusedReport, refused_report

LATEST = 1000
"""Debates of a run whose events are read; the counts of verdicts are of all debates."""

_BAND = 10


class RoundFlips(NamedTuple):
    """`changes` of the jurors' own `statements` in a round changed the speaker's position.

    `synthetic` counts blocked answers that a neutral evaluation replaces, `stale` seats without an answer whose earlier
    position counts.
    """

    round: int
    statements: int
    changes: int
    synthetic: int
    stale: int


class LabelCount(NamedTuple):
    """Debates whose verdict has this label of a panel's own scale; `share` of those that have one."""

    label: str
    verdict: str
    number: int
    share: float


class RunPage(NamedTuple):
    """Labels, scores, flips and cost are of `looked_at` debates of the run.

    `cost` is in US dollars, without the `unknown_cost` debates of unknown cost; `uncached` is what the same debates
    would have cost without prompt caches (None: unknown, or no cache was used). Of the input tokens,
    `cache_read` were read from caches and `cache_written` written to them. `mean_level` is that of the labels; None
    where they are no numbers.
    """

    run: RunRow
    progress: tuple[Segment, ...]
    verdicts: tuple[Segment, ...]
    labels: tuple[LabelCount, ...]
    mean_level: float | None
    scores: Columns
    flips: tuple[RoundFlips, ...]
    flip_chart: Columns
    cost_chart: Path
    looked_at: int
    simulated: int
    imported: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read: int
    cache_written: int
    cost: float
    uncached: float | None
    unknown_cost: int

    @property
    def read_share(self) -> str:
        """The share of the input tokens that were read from caches."""
        return f"{self.cache_read / max(1, self.input_tokens):.0%}"

    @property
    def ended(self) -> int:
        return self.run.ended

    @property
    def running(self) -> bool:
        """Whether some debates have not ended or not begun."""
        return self.ended < (self.run.debates + self.run.waiting if self.run.total is None else self.run.total)


def run_page(run: RunRow, latest: Sequence[DebateRow], histories: Iterable[DebateHistory]) -> RunPage:
    """The page of a run.

    Args:
        latest: up to `LATEST` of its debates, newest first.
    """
    in_order = list(reversed(latest))
    flips = _flips(histories)
    outcomes = [row.outcome for row in in_order]
    scores = Counter(min(one.score // _BAND, 9) for one in outcomes if one is not None and one.score is not None)
    costs = [row.cost for row in in_order]
    read = sum(row.cached_input_tokens for row in in_order)
    written = sum(row.cache_write_tokens for row in in_order)
    counts = {"completed": run.completed, "failed": run.failed, "cancelled": run.cancelled}
    counts |= {"open": run.debates - run.ended, "ahead": run.waiting if run.total is None else run.total - run.debates}
    return RunPage(
        run=run,
        progress=stacked_bar(counts),
        verdicts=verdict_bar(run),
        labels=label_counts(in_order),
        mean_level=_mean_level(in_order),
        scores=columns([(_band(band), float(scores[band]), 0.0) for band in range(10)]),
        flips=flips,
        flip_chart=columns([(str(one.round), float(one.statements), float(one.changes)) for one in flips]),
        cost_chart=growing_line([cost or 0.0 for cost in costs]),
        looked_at=len(in_order),
        simulated=sum(row.simulated for row in in_order),
        imported=sum(row.imported is not None for row in in_order),
        calls=sum(row.calls for row in in_order),
        input_tokens=sum(row.input_tokens for row in in_order),
        output_tokens=sum(row.output_tokens for row in in_order),
        cache_read=read,
        cache_written=written,
        cost=sum(cost for cost in costs if cost is not None),
        uncached=uncached_of_debates(in_order) if read or written else None,
        unknown_cost=costs.count(None),
    )


def verdict_bar(run: RunRow) -> tuple[Segment, ...]:
    return stacked_bar({verdict.value: getattr(run, verdict.value) for verdict in Verdict})


def label_counts(rows: Sequence[DebateRow]) -> tuple[LabelCount, ...]:
    """The labels of verdicts: by outcome, the best first; the higher level first, else the more frequent one."""
    counted = Counter(
        (row.final_label, row.final_verdict) for row in rows if row.final_label is not None and row.final_verdict
    )
    found = [
        LabelCount(label, verdict, number, number / counted.total()) for (label, verdict), number in counted.items()
    ]
    order = [verdict.value for verdict in Verdict]
    return tuple(
        sorted(
            found,
            key=lambda one: (
                order.index(one.verdict),
                -int(one.label) if one.label.isdecimal() else 0,
                -one.number,
                one.label,
            ),
        )
    )


def _mean_level(rows: Sequence[DebateRow]) -> float | None:
    labels = [row.final_label for row in rows if row.final_label is not None]
    if not labels or not all(label.isdecimal() for label in labels):
        return None
    return sum(map(int, labels)) / len(labels)


def _band(band: int) -> str:
    return f"{band * _BAND}–{100 if band == 9 else band * _BAND + 9}"  # noqa: PLR2004  (the last band has its end)


def _flips(histories: Iterable[DebateHistory]) -> tuple[RoundFlips, ...]:
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for history in histories:
        try:
            found = list(_contributions(history))
        except EventError:
            continue  # `jury verify` reports it
        for number, what in found:
            counted[number][what] += 1
    return tuple(
        RoundFlips(number, counts["statement"], counts["change"], counts["synthetic"], counts["stale"])
        for number, counts in sorted(counted.items())
    )


def _contributions(history: DebateHistory) -> Iterator[tuple[int, str]]:
    """By round, what each seat contributed: statement, change, synthetic evaluation, or stale position."""
    evaluations = answered_in_stream(history.stored_events)
    changes = position_changes(evaluations)
    for one in evaluations:
        if one.step.round:
            yield one.step.round, "synthetic" if one.synthetic else "statement"
            if changes.get(one.step) == "own":
                yield one.step.round, "change"
    for index, stored in enumerate(history.stored_events):
        if stored.type == "juror_abstained":
            event = history.events[index]
            if isinstance(event, JurorAbstained) and event.stale and (number := Step.parse(event.step).round):
                yield number, "stale"


SHOWN = 5
"""Debates of a list, until more are asked for."""

MOST = 200
"""Debates of the list of split votes where more are asked for."""

_OUTCOMES = {PASS: 1, FAIL: -1}


class JudgedAlike(NamedTuple):
    """Debates of one verdict, and of one `label` (None: of any); `address` is the list of exactly these."""

    verdict: Verdict
    label: Verdict | None
    number: int
    shown: tuple[DebateRow, ...]
    """The plainest first: the highest scores of a pass, the lowest of a fail."""
    address: str

    @property
    def false_pass(self) -> bool:
        """Whether these are the worst that a jury can do: passes of what is labelled a fail."""
        return (self.verdict, self.label) == (PASS, FAIL)


class SplitVotes(NamedTuple):
    """A debate whose votes are for different verdicts or labels."""

    debate: DebateRow
    positions: tuple[tuple[SeatPosition, int], ...]
    """What is voted for, with the number of votes, most votes first."""
    lowest: float
    """Score of a vote."""
    highest: float


class SplitDebates(NamedTuple):
    """The debates with split votes: how many there are, and the first of them."""

    number: int
    shown: tuple[SplitVotes, ...]


def has_labels(reader: StoreReader, run_id: str) -> bool:
    return bool(reader.debates(DebateFilter(run_id, where=parse_conditions(["label~"])), limit=1))


def label_disagreements(reader: StoreReader, run_id: str) -> tuple[JudgedAlike, ...]:
    """By verdict and label, the worst first; pairs that do not occur are absent."""
    found = (judged_alike(reader, run_id, verdict, label) for verdict, label in LABEL_DIFFERENCES)
    return tuple(one for one in found if one is not None)


def judged_alike(
    reader: StoreReader, run_id: str, verdict: Verdict, label: Verdict | None = None
) -> JudgedAlike | None:
    """The debates of a run with a verdict, and a label where one is given; None: there are none."""
    query = ListQuery(
        verdict=verdict, run=run_id, label=label, sort="score", order="asc" if verdict is FAIL else "desc"
    )
    number = reader.totals(query.chosen).debates
    if not number:
        return None
    shown = reader.debates(query.chosen, query.sorting, limit=SHOWN)
    return JudgedAlike(verdict, label, number, tuple(shown), query.page())


class SplitVoting:
    """Finds the debates whose votes differ among histories that are read for something else."""

    def __init__(self) -> None:
        self._found: dict[str, list[Vote]] = {}

    def noted(self, histories: Iterable[DebateHistory]) -> Iterator[DebateHistory]:
        """The same histories; the votes of those that differ are kept."""
        for history in histories:
            votes = _votes(history)
            if len({(vote.position, vote.label) for vote in votes}) > 1:
                self._found[history.debate_id] = votes
            yield history

    def farthest(self, rows: Sequence[DebateRow], *, most: int) -> SplitDebates:
        """Farthest apart first: a pass beside a fail, then the smaller majority, then the scores."""
        ranked = sorted(
            (row for row in rows if row.debate_id in self._found),
            key=lambda row: (*_nearness(self._found[row.debate_id]), row.case_id, row.debate_id),
        )
        return SplitDebates(len(ranked), tuple(_split(row, self._found[row.debate_id]) for row in ranked[:most]))


def _votes(history: DebateHistory) -> list[Vote]:
    """The votes with a position; none of a record that cannot be decoded, which `jury verify` reports."""
    for index in range(len(history.stored_events) - 1, -1, -1):
        if history.stored_events[index].type == "judgment_rendered":
            try:
                event = history.events[index]
            except EventError:
                return []
            if isinstance(event, JudgmentRendered):
                return [vote for vote in event.judgment.votes if vote.position is not None]
    return []


def _nearness(votes: list[Vote]) -> tuple[bool, float, float]:
    positions = Counter((vote.position, vote.label) for vote in votes)
    scores = [vote.score or 0.0 for vote in votes]
    opposed = len({_OUTCOMES[one] for one, _ in positions if one in _OUTCOMES}) > 1
    return not opposed, max(positions.values()) / len(votes), min(scores) - max(scores)


def _split(row: DebateRow, votes: list[Vote]) -> SplitVotes:
    scores = [vote.score for vote in votes if vote.score is not None]
    positions = Counter(SeatPosition(vote.position, vote.label) for vote in votes if vote.position is not None)
    return SplitVotes(row, tuple(positions.most_common()), min(scores, default=0.0), max(scores, default=0.0))


_GROUPS = 200


class RunPages:
    """Pages of a store that is open for reading. Each raises a `JuryError` where it cannot be shown."""

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
