"""Statistics of runs for a server: computed in a thread of their own, kept until a run changes, bounded."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from jury_events.errors import DebateNotFound
from jury_judge.errors import RunTooLarge, TooManyReports
from jury_judge.extras import check_statistics
from jury_replay.errors import RecordDamaged
from jury_store.debate_rows import DebateFilter, RunRow
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    import pyarrow as pa

    from jury_analysis.gate import GateReport
    from jury_analysis.paired import Paired
    from jury_analysis.panel_worth import PanelWorth
    from jury_analysis.statistics import Statistics
    from jury_analysis.true_rate import Of, TrueRate
    from jury_analysis.wording import Reason
    from jury_judge.reviews.review_agreement import ReviewAgreement
    from jury_judge.settings.statistics import Count
    from jury_views.gate_view import GateInWords

T = TypeVar("T")

MOST_DEBATES = 20_000
"""Of a run whose statistics a server computes: some seconds. `jury stats` has no such limit."""

MOST_RECOUNTS = 100_000
"""Debates × choices of seats and rounds that a server recounts: about ten seconds. `jury value` has no such limit."""

MOST_WAITING = 8
"""Reports that are being computed or wait for it."""

_KEPT = 32


class RunPageReport(NamedTuple):
    """What the page of a run's statistics shows."""

    statistics: "Statistics"
    worth: "PanelWorth | None"
    """None beyond `MOST_RECOUNTS`, of several panels, and where the record of a debate cannot be used."""
    true_rates: "tuple[TrueRate, ...]" = ()
    """Of each label, by the draws that are on record."""
    drift: "Reason | None" = None
    """When the panel was calibrated, and what its last drift check found."""


class RunReports:
    """The reports of the runs of a store.

    A report is computed again when its run has changed, which its row in the list of runs shows. Reports are computed
    one after the other; requests for the same report wait for the same computation.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="run-reports")
        self._lock = RLock()  # a computation that is over at once calls `_done` in the thread that has the lock
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._waiting: dict[Hashable, Future[Any]] = {}

    @property
    def waiting(self) -> int:
        """Reports that are being computed or wait for it."""
        return len(self._waiting)

    async def statistics(self, run_id: str, *, simulated: bool = False) -> "Statistics":
        """The statistics of a run's finished debates, each panel apart."""
        check_statistics("the statistics of a run")
        (run,) = await self._runs(run_id)
        compute = partial(computed_statistics, self._store, run_id, simulated=simulated)
        return await self._report(("statistics", run, simulated), compute)

    async def page(self, run_id: str, *, simulated: bool = False) -> "RunPageReport":
        """The statistics of a run, and what its seats and rounds are worth, from one reading of its ballots."""
        check_statistics("the statistics of a run")
        (run,) = await self._runs(run_id)
        compute = partial(computed_page, self._store, run_id, simulated=simulated)
        found = await self._report(("page", run, simulated), compute)
        position = await asyncio.to_thread(self._store.last_position)  # reviews do not change the row of a run
        rates = await self._report(("rates", run, position), partial(_rates, self._store, run_id))
        drift = await asyncio.to_thread(_drift, self._store, run_id)
        return found._replace(true_rates=rates, drift=drift)

    async def true_gate(self, run_id: str, claim: str, rate_of: "Of" = "run") -> "GateInWords":
        """Whether the rate at which people give a label keeps a limit, by the draws that are on record."""
        check_statistics("a gate on a true rate")
        (run,) = await self._runs(run_id)
        position = await asyncio.to_thread(self._store.last_position)
        compute = partial(_true_gate, self._store, run_id, claim, rate_of)
        return await self._report(("true", run, position, claim, rate_of), compute)

    async def gate(self, a: str, b: str, count: "Count | None" = None) -> "GateReport":
        """Two runs paired case by case, and the gate from a to b by its default metric and margin.

        Simulated debates count, with a warning. Under a scale of the panels' own `count` is what is counted; None: the
        gate counts outcomes, and the pairs labels where both runs are of one scale.
        """
        check_statistics("the paired table of two runs")
        first, second = await self._runs(a, b)
        return await self._report(("gate", first, second, count), partial(computed_gate, self._store, a, b, count))

    async def reviewers(self, wanted: DebateFilter, seen_by: str | None = None) -> "ReviewAgreement":
        """The agreement of the people who reviewed debates, as `review_agreement`."""
        check_statistics("the agreement of reviewers")
        position = await asyncio.to_thread(self._store.last_position)
        return await self._report(
            ("reviewers", position, wanted, seen_by), partial(_reviewers, self._store, wanted, seen_by)
        )

    def close(self) -> None:
        """Wait for the computation that runs; those that wait are cancelled."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _runs(self, *run_ids: str) -> list[RunRow]:
        rows = {run.run_id: run for run in await asyncio.to_thread(self._store.runs)}
        for run_id in run_ids:
            if run_id not in rows:
                raise DebateNotFound(f"there is no run {run_id!r} in this store; `jury list --runs` shows the runs")
            if rows[run_id].debates > MOST_DEBATES:
                raise RunTooLarge(
                    f"run {run_id!r} has {rows[run_id].debates:,} debates, more than the {MOST_DEBATES:,} of which a "
                    f"server computes statistics; use jury stats --run {run_id}"
                )
        return [rows[run_id] for run_id in run_ids]

    async def _report(self, key: Hashable, compute: Callable[[], T]) -> T:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
            waiting = self._waiting.get(key)
            if waiting is None:
                if len(self._waiting) >= MOST_WAITING:
                    raise TooManyReports(f"{MOST_WAITING} reports of runs are being computed; try again later")
                waiting = self._waiting[key] = self._thread.submit(compute)
                waiting.add_done_callback(partial(self._done, key))
        # A reader who goes away must not cancel the computation that others wait for.
        return cast("T", await asyncio.shield(asyncio.wrap_future(waiting)))

    def _done(self, key: Hashable, computed: Future[Any]) -> None:
        with self._lock:
            del self._waiting[key]
            if not computed.cancelled() and computed.exception() is None:
                self._kept[key] = computed.result()
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)


def computed_statistics(store: EventStore, run_id: str, *, simulated: bool) -> "Statistics":
    """The statistics of a run's finished debates, each panel apart, computed now."""
    from jury_analysis.ballots import STATISTICS_COLUMNS
    from jury_judge.tables.ballot_sources import stored_ballots

    return _statistics(store, stored_ballots(store, run_ids=(run_id,), columns=STATISTICS_COLUMNS), run_id, simulated)


def computed_page(store: EventStore, run_id: str, *, simulated: bool) -> RunPageReport:
    """What the page of a run's statistics shows, computed now."""
    from jury_analysis.ballots import EVERY_COLUMN
    from jury_judge.tables.ballot_sources import stored_ballots

    ballots = stored_ballots(store, run_ids=(run_id,), columns=EVERY_COLUMN)
    return RunPageReport(_statistics(store, ballots, run_id, simulated), _worth(store, ballots, run_id, simulated))


def computed_gate(store: EventStore, a: str, b: str, count: "Count | None" = None) -> "GateReport":
    """Two runs paired case by case, and the gate from a to b by its defaults, computed now.

    `count` is as in `RunReports.gate`.
    """
    from jury_analysis.gate import GateOptions
    from jury_analysis.pairing import PairedOptions
    from jury_judge.reports.gates import decide, sides_of_runs

    sides = sides_of_runs(store, a, b, count=count or "outcomes")
    found = decide(sides, None, GateOptions(paired=PairedOptions(simulated=True)))
    # Where a panel has no scale of its own, the pairs of the gate are those of the table.
    return found if count or sides.chosen.scale is None else replace(found, paired=computed_pairs(store, a, b, count))


def _true_gate(store: EventStore, run_id: str, claim: str, rate_of: "Of") -> "GateInWords":
    """A gate on a true rate of a run, computed now."""
    from jury_judge.reports.true_rates import true_gate_of
    from jury_judge.settings.gate import GateSettings

    return true_gate_of(GateSettings.of(sources=(run_id,), true=claim, rate_of=rate_of), store, lambda _remark: None)


def _rates(store: EventStore, run_id: str) -> "tuple[TrueRate, ...]":
    from jury_judge.reports.true_rates import run_rates

    return run_rates(store, run_id)


def _drift(store: EventStore, run_id: str) -> "Reason | None":
    from jury_judge.store_access.panel_standing import run_standing

    return run_standing(store, run_id)


def computed_pairs(store: EventStore, a: str, b: str, count: "Count | None" = None) -> "Paired":
    """Two runs paired case by case, computed now; `count` None: labels, where both runs are of one scale."""
    from jury_analysis.paired import paired
    from jury_analysis.pairing import PairedOptions
    from jury_judge.reports.gates import paired_as, sides_of_runs

    sides = sides_of_runs(store, a, b, count=count)
    first, second = sides.ballots
    assert second is not None, "two runs were asked for"
    return paired(first, second, None, paired_as(sides, PairedOptions(simulated=True)))


def _reviewers(store: EventStore, wanted: DebateFilter, seen_by: str | None) -> "ReviewAgreement":
    from jury_judge.reviews.review_agreement import review_agreement

    return review_agreement(store, wanted, seen_by)


def _statistics(store: EventStore, ballots: "pa.Table", run_id: str, simulated: bool) -> "Statistics":
    """As `jury stats --run ID --by panel`."""
    from jury_analysis.statistics import statistics
    from jury_judge.reports.vote_reports import statistics_options
    from jury_judge.settings.statistics import StatisticsSettings
    from jury_judge.tables.ballot_sources import Votes, counted_words

    asked = StatisticsSettings(run_ids=(run_id,), by=("panel",), include_simulated=simulated)
    votes = Votes(ballots, None, counted_words(store, ballots, None).words)
    return statistics(votes.counted, options=statistics_options(asked, votes.words))


def _worth(store: EventStore, ballots: "pa.Table", run_id: str, simulated: bool) -> "PanelWorth | None":
    """As `jury value --run ID`."""
    from jury_analysis.errors import MixedPanels
    from jury_analysis.panel_worth import choices_of, panel_worth
    from jury_analysis.scale import without_own_words
    from jury_cases.votes.words import VerdictWords
    from jury_judge.reports.panel_recounts import PanelRecount
    from jury_judge.reports.vote_reports import worth_options
    from jury_judge.settings.statistics import WorthSettings

    if choices_of(ballots) > MOST_RECOUNTS:
        return None
    asked = WorthSettings(run_ids=(run_id,), include_simulated=simulated)
    try:
        return panel_worth(without_own_words(ballots), None, worth_options(asked, VerdictWords()), PanelRecount(store))
    except (MixedPanels, RecordDamaged):
        return None
