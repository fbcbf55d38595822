"""Reports over votes of a store or of files: statistics, gates, calibrations, the worth of seats.

Heavy packages are imported when they are used.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from jury_judge.extras import check_statistics
from jury_judge.settings.calibration import CalibrationSettings
from jury_judge.settings.gate import GateSettings
from jury_judge.settings.statistics import StatisticsSettings, WorthSettings
from jury_judge.settings.votes import VoteReading
from jury_judge.stores.stores import Say

if TYPE_CHECKING:
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.panel_worth import PanelWorth
    from jury_analysis.run_probes import RunProbes
    from jury_judge.settings.run import ProbeSettings
    from jury_judge.statistics.calibrating import FoundCalibration, FoundLadder
    from jury_judge.statistics.statistics_groups import GroupedStatistics
    from jury_views.gate_view import GateInWords

P = ParamSpec("P")
T = TypeVar("T")


def _silent(_remark: str) -> None:
    """No remark is wanted."""


class VoteReports:
    """What votes are worth, wherever they come from: what `jury votes`, `stats`, `gate`, `calibrate` and `value` do.

    Settings name runs of a store, which is opened for reading, or files of votes (docs/votes.md).

    Args:
        threads: work in threads, so that the event loop goes on meanwhile. Without, the work blocks the loop, and a
            Ctrl-C ends it at once: for a program that does nothing else, as the command.
    """

    def __init__(self, say: Say = _silent, *, threads: bool = True) -> None:
        self._say = say
        self._threads = threads

    async def votes(self, files: Sequence[str], reading: VoteReading, output: Path) -> int:
        """Write a foreign table of votes in the documented columns, for the other reports; returns the number of votes.

        Args:
            files: files, folders and globs; `-` is standard input.
            reading: how their rows are read, in so far as they do not say it themselves.
            output: a Parquet file; an older file of votes is replaced.

        Raises:
            OutputPathTaken: `output` is something other than such a file.
            OSError: it cannot be written.
        """
        from jury_judge.statistics.vote_reports import write_read_votes

        return await self._blocking(write_read_votes, files, reading, output)

    async def stats(self, asked: StatisticsSettings) -> "GroupedStatistics":
        """Agreement, accuracy, confidence, discussion, for each group that is asked for.

        Raises:
            OutputPathTaken: `parquet` is something other than a file of ballots.
        """
        check_statistics("jury stats")
        from jury_judge.statistics.vote_reports import statistics_report

        return await self._blocking(statistics_report, asked, self._say)

    async def gate(self, asked: GateSettings) -> "GateInWords":
        """Whether the candidate's verdicts are worse than the base's, over the cases of both (docs/gate.md).

        Raises:
            As `stats`; AnalysisError also: the sides cannot be paired, or the metric cannot be had.
            ReportRefused: a report cannot be put where it is to be.
        """
        check_statistics("jury gate")
        from jury_judge.statistics.vote_reports import gate_report

        return await self._blocking(gate_report, asked, self._say)

    async def true_gate(self, asked: GateSettings) -> "GateInWords":
        """Whether the rate at which people give a label keeps a limit, by the labels of a random draw
        (docs/gate-on-a-true-rate.md).

        Raises:
            As `stats`; SettingError also: the claim cannot be read, or nothing is known to be drawn.
            ReportRefused: a report cannot be put where it is to be.
        """
        check_statistics("jury gate")
        from jury_judge.statistics.vote_reports import true_gate_report

        return await self._blocking(true_gate_report, asked, self._say)

    async def plan(self, asked: GateSettings) -> "GatePlan":
        """What `asked.plan` cases could find; how much pairs vary is measured on what was judged, or assumed.

        Raises:
            As `gate`; SettingError also: clusters are assumed where they are measured.
        """
        check_statistics("jury gate")
        from jury_judge.statistics.vote_reports import plan_report

        return await self._blocking(plan_report, asked, self._say)

    async def calibrate(self, asked: CalibrationSettings) -> "FoundCalibration":
        """From which agreement on a verdict may stand without a person (docs/calibration.md).

        Raises:
            As `stats`; AnalysisError also: there are too few labels, or parts overlap.
        """
        check_statistics("jury calibrate")
        from jury_judge.statistics.vote_reports import calibration_report

        return await self._blocking(calibration_report, asked, self._say)

    async def calibrate_stages(self, asked: CalibrationSettings) -> "FoundLadder":
        """From which agreement on the verdict of each stage of a ladder may stand, by outcome (docs/stages.md).

        Raises:
            As `calibrate`; AnalysisError also: the stages judged different cases.
        """
        check_statistics("jury calibrate")
        from jury_judge.statistics.vote_reports import ladder_report

        return await self._blocking(ladder_report, asked, self._say)

    async def value(self, asked: WorthSettings, counted: Callable[[], None] = lambda: None) -> "PanelWorth":
        """What each seat and round is worth, and which smaller panels would have done (docs/seat-value.md).

        Args:
            counted: called for each debate of a store that was recounted.

        Raises:
            As `stats`; RecordDamaged: the record of a debate cannot be used.
        """
        check_statistics("jury value")
        from jury_judge.statistics.vote_reports import worth_report

        return await self._blocking(worth_report, asked, self._say, counted)

    async def probes(self, asked: "ProbeSettings") -> "RunProbes":
        """What the twins of a run show, and what its votes say alone (docs/probes.md). Nothing is judged.

        Raises:
            OnlySimulated: all debates are simulated, and the settings do not ask for them.
        """
        check_statistics("jury probe")
        from jury_judge.statistics.vote_reports import probe_report

        return await self._blocking(probe_report, asked, self._say)

    async def _blocking(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._threads:
            return await asyncio.to_thread(work, *args, **kwargs)
        return work(*args, **kwargs)


def report_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a report, by its name: of `jury_analysis.report_object.REPORTS`."""
    check_statistics(f"the schema of {name}")
    from jury_analysis import report_object

    return report_object.report_schema(name)
