"""What votes are worth: those of stored debates, and reports over votes of a store or of files.

Heavy packages are imported when they are used.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jury_judge.blocking import BlockingWork
from jury_judge.extras import check_statistics
from jury_judge.records.open_store import OpenStore
from jury_judge.store_access.stores import Say
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter

if TYPE_CHECKING:
    import pyarrow as pa

    from jury_analysis.calibration import CalibrationOptions
    from jury_analysis.gate import GateOptions, GateReport
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.ladder_report import LadderOptions
    from jury_analysis.panel_worth import PanelWorth, WorthOptions
    from jury_analysis.run_probes import RunProbes
    from jury_analysis.statistics import StatisticsOptions
    from jury_judge.reports.calibrating import FoundCalibration, FoundLadder
    from jury_judge.reports.gates import AssumedVariation
    from jury_judge.reports.statistics_groups import GroupedStatistics, ShownStatistics
    from jury_judge.settings.calibration import CalibrationSettings
    from jury_judge.settings.gate import GateSettings
    from jury_judge.settings.run import ProbeSettings
    from jury_judge.settings.statistics import Count, StatisticsSettings, WorthSettings
    from jury_judge.settings.votes import VoteReading
    from jury_judge.tables.ballot_table import BallotFrame
    from jury_views.gate_view import GateInWords


class VoteRecords(OpenStore):
    """Statistics over the votes of debates."""

    async def ballots(self, filter: DebateFilter = EVERY_DEBATE, *, unfinished: bool = False) -> "pa.Table":  # noqa: A002  (what it is)
        """Every vote of the selected debates: one row a debate, round and seat, and one for the final judge.

        The columns are those of `jury_analysis.ballots.SCHEMA` (docs/reference/tables.md); rows are ordered by debate
        id (code points), round and seat in the order of the panel. pandas and polars take the table as it is.

        Args:
            filter: which debates; those in quarantine are left out unless asked for.
            unfinished: also debates that have not ended, with their votes so far.
        """
        from jury_analysis.ballots import decoded
        from jury_judge.tables.ballot_table import ballot_table

        return decoded(await self._read(ballot_table, filter, ended_only=not unfinished))

    async def ballot_frame(self, filter: DebateFilter = EVERY_DEBATE, *, unfinished: bool = False) -> "BallotFrame":  # noqa: A002  (as of `ballots`)
        """`ballots` for notebooks: shown as a table, and converted to pandas and polars."""
        from jury_judge.tables.ballot_table import BallotFrame

        return BallotFrame(await self.ballots(filter, unfinished=unfinished))

    async def stats(
        self,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        *,
        run_ids: Iterable[str] = (),
        seats: Iterable[str] = (),
        labels: "pa.Table | None" = None,
        options: "StatisticsOptions | None" = None,
        count: "Count | None" = None,
    ) -> "ShownStatistics":
        """What the votes of finished debates are worth: agreement, accuracy, confidence, discussion (docs/votes.md).

        A notebook shows the report as charts and tables (docs/python-api.md).

        Args:
            filter: which debates; those in quarantine are left out unless asked for.
            run_ids: only those of these runs; (): of any.
            seats: only the votes of these seats, and of the final judge; (): of all.
            labels: rows of `jury_analysis.ballots.LABELS`, which win over the labels of the cases.
            count: labels or outcomes of debates under a scale of the panel's own, in which the labels are then; None:
                labels, where all debates are of one scale.
        """
        check_statistics("stats()")
        from jury_analysis.ballots import STATISTICS_COLUMNS
        from jury_analysis.scale import Scale
        from jury_analysis.statistics import StatisticsOptions, statistics
        from jury_judge.reports.statistics_groups import ShownStatistics
        from jury_judge.tables.ballot_sources import Votes, counted_words, stored_ballots

        ballots = await self._read(
            stored_ballots, filter, run_ids=tuple(run_ids), seats=tuple(seats), columns=STATISTICS_COLUMNS
        )
        votes = Votes(ballots, labels, (await self._read(counted_words, ballots, count)).words)
        if votes.words.labels_of is not None:
            options = replace(options or StatisticsOptions(), scale=Scale.of_labels(votes.words.labels_of))
        return ShownStatistics.of(await self._blocking(statistics, votes.counted, labels, options))

    async def calibrate(
        self,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        *,
        run_ids: Iterable[str] = (),
        labels: "pa.Table | None" = None,
        options: "CalibrationOptions | None" = None,
        count: "Count" = "outcomes",
    ) -> "FoundCalibration":
        """From which agreement on a verdict may stand without a person (docs/calibration.md).

        Its `file_bytes()` are what a panel takes as `final.calibration`.

        Args:
            run_ids: only those of these runs; (): of any.
            labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
            count: labels or outcomes of debates under a scale of the panel's own.
        """
        check_statistics("calibrate()")
        from jury_judge.reports.calibrating import calibrate_stored

        return await self._read(calibrate_stored, filter, tuple(run_ids), labels, options, count=count)

    async def calibrate_stages(
        self,
        stages: Iterable[str],
        options: "LadderOptions",
        *,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        labels: "pa.Table | None" = None,
    ) -> "FoundLadder":
        """From which agreement on the verdict of each stage of a ladder may stand, by outcome (docs/stages.md).

        Its `file_bytes()` are the `certificate` of a file of stages.

        Args:
            stages: the run of each stage, from the cheapest on, over all labelled cases; of panels without calibration.
                Or one run by the ladder without a certificate, whose later stages may have seen the earlier votes.
            labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
        """
        check_statistics("calibrate_stages()")
        from jury_judge.reports.calibrating import calibrate_stored_stages

        return await self._read(calibrate_stored_stages, tuple(stages), labels, options, filter)

    async def gate(
        self,
        base: str,
        candidate: str,
        *,
        labels: "pa.Table | None" = None,
        options: "GateOptions | None" = None,
        count: "Count" = "outcomes",
    ) -> "GateReport":
        """Whether a run's final verdicts are worse than those of another, over the cases of both (docs/gate.md).

        Args:
            labels: rows of `jury_analysis.labels.LABELS`, which win over the labels of the cases.
            options: metric, margin and what is counted; the defaults if None.
            count: labels or outcomes of debates under a scale of the panels' own.
        """
        check_statistics("gate()")
        from jury_analysis.gate import GateOptions
        from jury_judge.reports.gates import decide, sides_of_runs

        sides = await self._read(sides_of_runs, base, candidate, count=count)
        return await self._blocking(decide, sides, labels, options or GateOptions())

    async def plan(
        self,
        cases: int,
        base: str,
        candidate: str | None = None,
        *,
        labels: "pa.Table | None" = None,
        options: "GateOptions | None" = None,
        assumed: "AssumedVariation | None" = None,
    ) -> "GatePlan":
        """What so many cases could find in a gate; how much pairs vary is measured on what was judged.

        Args:
            candidate: the run that may be worse; None: repeats of the base say how much pairs vary.
        """
        check_statistics("plan()")
        from jury_analysis.gate import GateOptions
        from jury_judge.reports.gates import plan, sides_of_runs

        sides = await self._read(sides_of_runs, base, candidate)
        return await self._blocking(plan, cases, sides, labels, options or GateOptions(), assumed)

    async def value(
        self,
        filter: DebateFilter = EVERY_DEBATE,  # noqa: A002  (as of `ballots`)
        *,
        run_ids: Iterable[str] = (),
        labels: "pa.Table | None" = None,
        options: "WorthOptions | None" = None,
    ) -> "PanelWorth":
        """What each seat and round is worth, and which smaller panels would have done (docs/seat-value.md).

        Args:
            run_ids: only those of these runs; (): of any.
        """
        check_statistics("value()")
        from jury_judge.reports.panel_recounts import worth_of_stored

        return await self._read(worth_of_stored, filter, tuple(run_ids), labels, options)


class VoteReports(BlockingWork):
    """What votes are worth, wherever they come from: what `jury votes`, `stats`, `gate`, `calibrate` and `value` do.

    Settings name runs of a store, which is opened for reading, or files of votes (docs/votes.md).

    Args:
        threads: work in threads, so that the event loop goes on meanwhile. Without, the work blocks the loop, and a
            Ctrl-C ends it at once: for a program that does nothing else, as the command.
    """

    def __init__(self, say: Say = lambda _remark: None, *, threads: bool = True) -> None:
        super().__init__(threads=threads)
        self._say = say

    async def votes(self, files: Sequence[str], reading: "VoteReading", output: Path) -> int:
        """Write a foreign table of votes in the documented columns, for the other reports; returns the number of votes.

        Args:
            files: files, folders and globs; `-` is standard input.
            reading: how their rows are read, in so far as they do not say it themselves.
            output: a Parquet file; an older file of votes is replaced.
        """
        from jury_judge.reports.vote_reports import write_read_votes

        return await self._blocking(write_read_votes, files, reading, output)

    async def stats(self, asked: "StatisticsSettings") -> "GroupedStatistics":
        """Agreement, accuracy, confidence, discussion, for each group that is asked for."""
        check_statistics("jury stats")
        from jury_judge.reports.vote_reports import statistics_report

        return await self._blocking(statistics_report, asked, self._say)

    async def gate(self, asked: "GateSettings") -> "GateInWords":
        """Whether the candidate's verdicts are worse than the base's, over the cases of both (docs/gate.md)."""
        check_statistics("jury gate")
        from jury_judge.reports.vote_reports import gate_report

        return await self._blocking(gate_report, asked, self._say)

    async def true_gate(self, asked: "GateSettings") -> "GateInWords":
        """Whether the rate at which people give a label keeps a limit, by the labels of a random draw
        (docs/gate-on-a-true-rate.md).
        """
        check_statistics("jury gate")
        from jury_judge.reports.vote_reports import true_gate_report

        return await self._blocking(true_gate_report, asked, self._say)

    async def plan(self, asked: "GateSettings") -> "GatePlan":
        """What `asked.plan` cases could find; how much pairs vary is measured on what was judged, or assumed."""
        check_statistics("jury gate")
        from jury_judge.reports.vote_reports import plan_report

        return await self._blocking(plan_report, asked, self._say)

    async def calibrate(self, asked: "CalibrationSettings") -> "FoundCalibration":
        """From which agreement on a verdict may stand without a person (docs/calibration.md)."""
        check_statistics("jury calibrate")
        from jury_judge.reports.vote_reports import calibration_report

        return await self._blocking(calibration_report, asked, self._say)

    async def calibrate_stages(self, asked: "CalibrationSettings") -> "FoundLadder":
        """From which agreement on the verdict of each stage of a ladder may stand, by outcome (docs/stages.md)."""
        check_statistics("jury calibrate")
        from jury_judge.reports.vote_reports import ladder_report

        return await self._blocking(ladder_report, asked, self._say)

    async def value(self, asked: "WorthSettings", counted: Callable[[], None] = lambda: None) -> "PanelWorth":
        """What each seat and round is worth, and which smaller panels would have done (docs/seat-value.md).

        Args:
            counted: called for each debate of a store that was recounted.
        """
        check_statistics("jury value")
        from jury_judge.reports.vote_reports import worth_report

        return await self._blocking(worth_report, asked, self._say, counted)

    async def probes(self, asked: "ProbeSettings") -> "RunProbes":
        """What the twins of a run show, and what its votes say alone (docs/probes.md). Nothing is judged."""
        check_statistics("jury probe")
        from jury_judge.reports.vote_reports import probe_report

        return await self._blocking(probe_report, asked, self._say)


def report_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a report, by its name: of `jury_analysis.report_object.REPORTS`."""
    check_statistics(f"the schema of {name}")
    from jury_analysis import report_object

    return report_object.report_schema(name)
