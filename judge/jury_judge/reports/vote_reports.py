"""Reports over votes of a store or of files: read, computed, and written where the settings name a file.

The last functions are what settings are as the options of `jury_analysis`.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import EVERY_COLUMN, READING, STATISTICS_COLUMNS
from jury_analysis.gate_plan import GatePlan
from jury_analysis.panel_worth import PanelWorth, panel_worth
from jury_analysis.run_probes import RunProbes
from jury_analysis.true_rate import TrueRate
from jury_analysis.wording import Reason
from jury_cases.votes.words import VerdictWords
from jury_judge.report_files import check_report_path
from jury_judge.reports.calibrating import (
    FoundCalibration,
    FoundLadder,
    LadderStage,
    calibrate_ballots,
    ladder_of_files,
    ladder_of_runs,
    ladder_stages,
    read_case_ids,
)
from jury_judge.reports.gates import AssumedVariation, Judged, decide, judged_sides, plan
from jury_judge.reports.panel_recounts import PanelRecount
from jury_judge.reports.probe_reports import run_probes
from jury_judge.reports.statistics_groups import GroupedStatistics, grouped_statistics, run_audits
from jury_judge.reports.true_rates import run_rates, true_gate_of
from jury_judge.settings.calibration import CalibrationSettings
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import REVIEWS, Count, StatisticsSettings, VoteSources, WorthSettings
from jury_judge.settings.store import load_settings
from jury_judge.settings.votes import VoteReading
from jury_judge.store_access.counted_panels import effort_lines, one_model_lines
from jury_judge.store_access.panel_standing import run_standing
from jury_judge.store_access.stores import Say
from jury_judge.tables.ballot_sources import COUNTED_COLUMNS, Votes, counted_words, of_reading, scale_of, stored_ballots
from jury_judge.tables.table_files import BALLOTS, FRONTIER, write_ballots, write_frontier
from jury_judge.tables.votes_of_files import (
    VOTES,
    counted_in_files,
    later_labels,
    read_foreign_votes,
    read_vote_files,
    with_later_labels,
    write_votes,
)
from jury_replay.table_file import check_new_table
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_views.gate_view import GateInWords, gate_in_words
from jury_views.junit import JUNIT_BEGINS
from jury_views.markdown import MARKDOWN_BEGINS

if TYPE_CHECKING:
    from jury_judge.settings.run import ProbeSettings
from collections.abc import Collection, Mapping

from jury_analysis.calibration import CalibrationOptions
from jury_analysis.gate import GateOptions
from jury_analysis.ladder_promises import Promises
from jury_analysis.ladder_report import LadderOptions
from jury_analysis.pairing import PairedOptions
from jury_analysis.panel_worth import WorthOptions
from jury_analysis.statistics import StatisticsOptions


def write_read_votes(files: Sequence[str], reading: VoteReading, output: Path) -> int:
    """See `VoteReports.votes`."""
    check_new_table(output, VOTES)  # now, not after minutes of work
    votes = read_foreign_votes(files, reading)
    write_votes(output, votes)
    return len(votes.ballots)


def statistics_report(asked: StatisticsSettings, say: Say) -> GroupedStatistics:
    """See `VoteReports.stats`."""
    if asked.parquet is not None:
        check_new_table(asked.parquet, BALLOTS)  # now, not after minutes of work
    # Of a store, the figures need some of the columns, the file all.
    columns = EVERY_COLUMN if asked.parquet else (*STATISTICS_COLUMNS, "run_id")
    with _store_of(asked) as store:
        votes = _votes(asked, store, say, columns=columns, random_only=asked.random_labels)
        if store is not None:
            panels = _one_of_each_panel(votes.ballots)
            for line in (*effort_lines(store, panels), *one_model_lines(store, panels.values())):
                say(line)
        audits = () if store is None else tuple(run_audits(store, asked.run_ids))
        rates: tuple[TrueRate, ...] = ()
        drift: Reason | None = None
        if store is not None and len(asked.runs) == 1:
            rates = run_rates(store, asked.runs[0], asked.chosen)
            drift = run_standing(store, asked.runs[0])
    by = [name for name in asked.by if name != "panel"]
    found = grouped_statistics(votes.counted, votes.labels, statistics_options(asked, votes.words), by=by)
    found = replace(found, audits=audits, true_rates=rates, drift=drift)
    if asked.parquet is not None:
        write_ballots(asked.parquet, votes.ballots, votes.labels_of_outcomes, votes.scales)
        say(f"{votes.ballots.num_rows:,} ballots written to {asked.parquet}")
    return found


def _one_of_each_panel(ballots: pa.Table) -> dict[str, str]:
    """A debate of each panel that is known, by its name in the report."""
    panels = ballots["panel"].cast(pa.string())
    names = sorted(pc.drop_null(pc.unique(panels)).to_pylist())
    return {f"panel {name}": str(ballots["debate_id"][pc.index(panels, name).as_py()]) for name in names}


def calibration_report(asked: CalibrationSettings, say: Say) -> FoundCalibration:
    """See `VoteReports.calibrate`."""
    cases = {part: read_case_ids(path) for part, path in asked.named_parts.items()}
    with _store_of(asked) as store:
        # A bound holds for cases like those that were labelled: reviews of the queue alone are a chosen part.
        votes = _votes(asked, store, say, columns=COUNTED_COLUMNS, count="outcomes", random_only=True)
        return calibrate_ballots(votes, calibration_options(asked, votes.words, cases), store)


def ladder_report(asked: CalibrationSettings, say: Say) -> FoundLadder:
    """See `VoteReports.calibrate_stages`."""
    with _store_of(asked) as store:
        if store is None:
            votes = _votes(asked, None, say, columns=COUNTED_COLUMNS, count="outcomes", random_only=True)
            return ladder_of_files(votes, asked.stages, ladder_options(asked, votes.words))
        sources = ladder_stages(store, asked.stages)
        votes_of = [
            _votes(
                _of_run(asked, one.run_id), store, say if not place else _silent,
                columns=COUNTED_COLUMNS, count="outcomes", random_only=True, stage=one,
            )
            for place, one in enumerate(sources)
        ]  # fmt: skip
        return ladder_of_runs(store, sources, votes_of, ladder_options(asked, votes_of[0].words))


def _of_run(asked: CalibrationSettings, run_id: str) -> VoteSources:
    return VoteSources(
        run_ids=(run_id,),
        where=asked.where,
        filters=asked.filters,
        store_url=asked.store_url,
        labels=asked.labels,
        read=asked.read,
        count=asked.count,
    )


def _silent(_remark: str) -> None:
    """What is said of the labels is said once."""


def worth_report(asked: WorthSettings, say: Say, counted: Callable[[], None]) -> PanelWorth:
    """See `VoteReports.value`."""
    if asked.parquet is not None:
        check_new_table(asked.parquet, FRONTIER)  # now, not after minutes of work
    with _store_of(asked) as store:
        votes = _votes(asked, store, say, count="outcomes")
        # A recount says outcomes: labels are counted by plurality, as votes of files are.
        recount = None if store is None or votes.words.labels_of is not None else PanelRecount(store, counted)
        found = panel_worth(votes.counted, votes.labels, worth_options(asked, votes.words), recount)
    if asked.parquet is not None:
        write_frontier(asked.parquet, found.frontier)
    return found


def _votes(
    asked: VoteSources,
    store: EventStore | None,
    say: Say,
    *,
    columns: Sequence[str] | None = None,
    count: Count | None = None,
    random_only: bool = False,
    stage: LadderStage | None = None,
) -> Votes:
    """The votes that are asked for, of the store or else of files, with the labels that came later.

    `count` is what is counted where the settings do not say it; None: labels, where the debates are of one scale.
    `stage`: of a ladder, whose debates alone are read.
    """
    if store is None:
        votes = read_vote_files(asked.files, asked.seats, asked.judges)
        votes = votes._replace(ballots=of_reading(votes.ballots, asked.read))
        counted = counted_in_files(votes, asked.count, usual=count)
        votes = votes._replace(words=counted.words)
    else:
        if columns is not None and asked.read is not None:
            columns = tuple(dict.fromkeys((*columns, *READING.names)))
        wanted = asked.chosen if stage is None else stage.of(asked.chosen)
        ballots = stored_ballots(store, wanted, run_ids=asked.runs, seats=asked.seats, columns=columns)
        ballots = of_reading(ballots, asked.read)
        counted = counted_words(store, ballots, asked.count or count)
        votes = Votes(ballots, None, counted.words, counted.scales)
    if counted.chosen.mixed:
        say(counted.chosen.mixed)
    if counted.chosen.counted:
        say(f"the {counted.chosen.counted} are counted")
    return with_later_labels(votes, asked.labels, store, say, random_only=random_only)


def gate_report(asked: GateSettings, say: Say) -> GateInWords:
    """See `VoteReports.gate`."""
    _check_reports(asked)
    judged = _judged(asked, say)
    drift = None
    if not asked.files:
        with closing(_opened(asked.store_url)) as store:
            drift = run_standing(store, asked.sources[-1], asked.require_drift_check)
    if judged.sides is None or judged.sides.candidate is None:
        raise AssertionError("settings refuse a gate without two sides")
    report = decide(judged.sides, judged.labels, gate_options(asked, judged.words))
    report = replace(report, scale=judged.sides.chosen.to_dict())
    return gate_in_words(
        judged.sides.base,
        judged.sides.candidate,
        report,
        inconclusive=asked.inconclusive,
        worse=asked.worse,
        counted=judged.sides.chosen.counted,
        drift=drift or "",
    )


def true_gate_report(asked: GateSettings, say: Say) -> GateInWords:
    """See `VoteReports.true_gate`."""
    _check_reports(asked)
    with _store_of(asked) as store:
        drift = None if store is None else run_standing(store, asked.sources[-1], asked.require_drift_check)
        return true_gate_of(asked, store, say, drift or "")


def _check_reports(asked: GateSettings) -> None:
    for path, begins in ((asked.junit, JUNIT_BEGINS), (asked.markdown, MARKDOWN_BEGINS)):
        if path is not None:
            check_report_path(path, begins)


def plan_report(asked: GateSettings, say: Say) -> GatePlan:
    """See `VoteReports.plan`."""
    judged = _judged(asked, say)
    assumed = AssumedVariation(asked.discordance, asked.cluster_size, asked.correlation)
    return plan(asked.plan or 0, judged.sides, judged.labels, gate_options(asked, judged.words), assumed)


def probe_report(asked: "ProbeSettings", say: Say) -> RunProbes:
    """See `VoteReports.probes`."""
    assert asked.run_id is not None, "settings refuse a report without a run"
    labels = probe_labels(asked, say) if asked.labels else None
    with closing(_opened(asked.store_url)) as store:
        return run_probes(
            store, asked.run_id, labels=labels, simulated=asked.include_simulated, tolerated=asked.tolerate
        )


def probe_labels(asked: "ProbeSettings", say: Say) -> pa.Table:
    """The labels that came later than the debates of a probe."""
    with closing(_opened(asked.store_url)) if REVIEWS in asked.labels else nullcontext() as store:
        return later_labels(asked.labels, VerdictWords(), store, say)[0]


def _judged(asked: GateSettings, say: Say) -> Judged:
    with _store_of(asked) as store:
        return judged_sides(asked, store, say)


@contextmanager
def _store_of(asked: VoteSources | GateSettings) -> Iterator[EventStore | None]:
    """The store that the settings read, open; None: they read files, or nothing was judged."""
    if asked.files or (isinstance(asked, GateSettings) and not asked.sources):
        yield None
        return
    with closing(_opened(asked.store_url)) as store:
        yield store


def _opened(store_url: str | None) -> EventStore:
    return open_store(load_settings(os.environ, store_url=store_url).store_url, write=False)


def statistics_options(asked: StatisticsSettings, words: VerdictWords) -> StatisticsOptions:
    """Of statistics over these verdicts."""
    return StatisticsOptions(
        scale=scale_of(words),
        by_panel="panel" in asked.by,
        simulated=asked.include_simulated,
        stale="stale" in asked.include,
        synthetic="synthetic" in asked.include,
        random_labels=asked.random_labels,
        epsilon=asked.epsilon,
        resamples=asked.resamples,
        seed=asked.seed,
    )


def gate_options(asked: GateSettings, words: VerdictWords) -> GateOptions:
    """Of a gate, or a plan, over these verdicts."""
    return GateOptions(
        metric=asked.metric,
        margin=asked.margin,
        worse=asked.worse,
        paired=PairedOptions(
            scale=scale_of(words),
            simulated=asked.include_simulated,
            stale="stale" in asked.include,
            synthetic="synthetic" in asked.include,
        ),
        resamples=asked.resamples,
        seed=asked.seed,
    )


def calibration_options(
    asked: CalibrationSettings, words: VerdictWords, cases: Mapping[str, Collection[str]]
) -> CalibrationOptions:
    """Of a calibration over these verdicts.

    Args:
        cases: the ids in the files of `asked.named_parts`.
    """
    return CalibrationOptions(
        risk=asked.risk,
        confidence=asked.confidence,
        on=asked.on,
        signal=asked.signal,
        split=asked.split,
        cases=cases,
        seed=asked.seed,
        scale=scale_of(words),
        simulated=asked.include_simulated,
    )


def ladder_options(asked: CalibrationSettings, words: VerdictWords) -> LadderOptions:
    """Of a ladder over these verdicts."""
    split = asked.split or (0.0, 100.0, 0.0)
    promises = asked.promises
    return LadderOptions(
        promises=Promises(
            passes=promises.get("pass"),
            fails=promises.get("fail"),
            missed=promises.get("missed"),
            confidence=asked.confidence,
        ),
        split=(split[1], split[2]),
        seed=asked.seed,
        scale=scale_of(words),
        simulated=asked.include_simulated,
    )


def worth_options(asked: WorthSettings, words: VerdictWords) -> WorthOptions:
    """Of the worth of seats and rounds, over these verdicts."""
    return WorthOptions(scale=scale_of(words), simulated=asked.include_simulated, orders=asked.orders, seed=asked.seed)
