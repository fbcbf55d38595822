"""What the votes of stored debates are worth. Heavy packages are imported when they are used."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from jury_judge.records.open_store import OpenStore
from jury_store.debate_rows import EVERY_DEBATE, DebateFilter

if TYPE_CHECKING:
    import pyarrow as pa

    from jury_analysis.calibration import CalibrationOptions
    from jury_analysis.gate import GateOptions, GateReport
    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.ladder_report import LadderOptions
    from jury_analysis.panel_worth import PanelWorth, WorthOptions
    from jury_analysis.statistics import StatisticsOptions
    from jury_judge.settings.statistics import Count
    from jury_judge.statistics.calibrating import FoundCalibration, FoundLadder
    from jury_judge.statistics.gates import AssumedVariation
    from jury_judge.statistics.statistics_groups import ShownStatistics
    from jury_judge.tables.ballot_table import BallotFrame


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
        from jury_judge.extras import check_statistics

        check_statistics("stats()")
        from jury_analysis.ballots import STATISTICS_COLUMNS
        from jury_analysis.scale import Scale
        from jury_analysis.statistics import StatisticsOptions, statistics
        from jury_judge.statistics.statistics_groups import ShownStatistics
        from jury_judge.tables.ballot_sources import Votes, stored_ballots
        from jury_judge.tables.counted_ballots import counted_words

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
        from jury_judge.extras import check_statistics

        check_statistics("calibrate()")
        from jury_judge.statistics.calibrating import calibrate_stored

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
        from jury_judge.extras import check_statistics

        check_statistics("calibrate_stages()")
        from jury_judge.statistics.calibrating import calibrate_stored_stages

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
        from jury_judge.extras import check_statistics

        check_statistics("gate()")
        from jury_analysis.gate import GateOptions
        from jury_judge.statistics.gates import decide, sides_of_runs

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

        Raises:
            As `gate`; SettingError also: clusters are assumed where they are measured.
        """
        from jury_judge.extras import check_statistics

        check_statistics("plan()")
        from jury_analysis.gate import GateOptions
        from jury_judge.statistics.gates import plan, sides_of_runs

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
        from jury_judge.extras import check_statistics

        check_statistics("value()")
        from jury_judge.statistics.panel_recounts import worth_of_stored

        return await self._read(worth_of_stored, filter, tuple(run_ids), labels, options)
