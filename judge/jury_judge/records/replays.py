"""Replay, rescoring and comparisons of recorded debates, and their scores for other tools."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_judge.records.open_store import OpenStore, Where, check_debate_id, conditions_of, log_line
from jury_judge.store_access.stores import Say

if TYPE_CHECKING:
    from jury_events.local_events import ScoreTargetName
    from jury_judge.comparisons.comparing import ComparedDebates, ComparedRuns, Kind
    from jury_judge.scores.score_export import ExportedScores
    from jury_judge.settings.auditing import Rescoring
    from jury_judge.settings.debates import Selection
    from jury_judge.settings.statistics import Count
    from jury_replay.replay import Replayed
    from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
    from jury_replay.rescoring.settings import Mode
    from jury_store.event_store import EventStore


class ReplayRecords(OpenStore):
    """Replay, rescoring, comparisons, and scores for other tools."""

    async def replay(self, debate_id: str) -> "Replayed":
        """Whether the record of a debate follows from the answers of its models; no model is called."""
        from jury_replay.replay import replay_chunk

        check_debate_id(debate_id)
        return (await self._read(replay_chunk, [debate_id]))[0]

    def replay_many(self, selection: "Selection", *, processes: int | None = None) -> "AsyncGenerator[Replayed, None]":
        """The same of several debates, in the order of the selection, in memory that does not grow with their number.

        Args:
            processes: how many work; None: one a core where that is faster.
        """
        from jury_judge.recorded_debates.stored_debates import replayed

        return self._read_each(replayed, selection.debates, self.store_url, processes, self._offline())

    async def rescore(
        self,
        debate_ids: str | Iterable[str] | None = None,
        *,
        settings: Mapping[str, Any],
        run_id: str | None = None,
        where: Where = (),
        mode: "Mode" = "strict",
    ) -> "list[RescoreRow | RescoreProblem]":
        """The results of recorded debates under other settings; no model is called, nothing is written.

        Args:
            debate_ids: which debates; None is those of `run_id`, else all.
            settings: by key (`docs/rescoring.md`) a value, or a list of values to try; several keys make a grid.
            where: conditions on the cases and the evidence (docs/filtering.md), which select among those of
                a run, or all.
            mode: `strict`, or `recount`, which keeps every recorded position.

        Raises:
            SettingError, SettingRefused: a setting is not understood, or the mode cannot answer it.
        """
        from jury_judge.recorded_debates.grids import grid_of
        from jury_judge.recorded_debates.stored_debates import all_rows
        from jury_replay.rescoring.settings import Mode
        from jury_replay.selection import DebateSelection

        if mode not in get_args(Mode):
            raise SettingError(f"mode: must be {' or '.join(get_args(Mode))}, not {visible_line(repr(mode), 80)}")
        if not isinstance(settings, Mapping):
            raise SettingError(f"settings: must be a table KEY: value, not a {type(settings).__name__}")
        ids = (debate_ids,) if isinstance(debate_ids, str) else None if debate_ids is None else tuple(debate_ids)
        for one in ids or ():
            check_debate_id(one)
        conditions = conditions_of(where, recorded=True)
        if ids is not None and conditions:
            raise SettingError("where: it selects among the debates of a run, or all; leave debate_ids out")
        selection = DebateSelection(ids, run_id, conditions)
        return await self._read(all_rows, selection, grid_of(settings), mode)

    def rescore_many(
        self, asked: "Rescoring", *, parquet: Path | None = None
    ) -> "AsyncGenerator[list[RescoreRow] | RescoreProblem, None]":
        """The same debate by debate, in the order of the selection, in memory that does not grow with their number.

        Args:
            parquet: a file that takes every row too; it is written once all are done.

        Yields:
            The rows of a debate, one a setting in the order of the grid, or why its record cannot be used.

        Raises:
            OutputPathTaken: `parquet` is something other than a Parquet file.
            OSError: the file cannot be written.
        """
        from jury_judge.recorded_debates.stored_debates import rescored

        return self._read_each(rescored, asked, self.store_url, parquet, self._offline())

    async def compare(
        self, a: str, b: str, kind: "Kind | None" = None, *, flips: int | None = None, count: "Count | None" = None
    ) -> "ComparedDebates | ComparedRuns":
        """Two debates, or two runs: of debates their results and every seat's position in every round.

        Runs are joined by case, with the verdicts of both, what flipped, and the paired table with its tests.

        Args:
            a: the id of a debate, or of a run.
            kind: what they are, where an id is both a debate's and a run's.
            flips: of two runs, at most so many flips are listed; None: all.
            count: of two runs, what is counted under a scale of the panels' own; None: labels, where both runs are of
                one scale.

        Raises:
            NotComparable: an id is unknown, both kinds fit and `kind` is None, or they are of different kinds.
        """
        return await self._read(_compare, a, b, kind, flips=flips, count=count)

    def export_scores(
        self,
        selection: "Selection",
        target: "ScoreTargetName",
        *,
        dry_run: bool = False,
        environ: Mapping[str, str] | None = None,
        say: Say = log_line,
    ) -> "AsyncGenerator[ExportedScores, None]":
        """Write verdicts, scores and votes of debates onto the traces that they judged, at the tool that has these.

        What was written is recorded: a second call writes what changed alone, as the verdict of a person.

        Args:
            dry_run: say what would be written; write and record nothing.
            environ: the environment's variables, which name the tool; None is `os.environ`.

        Raises:
            ScoresRefused: the tool did not take the scores of a debate; the same call goes on with it.
        """
        from jury_judge.scores.score_export import export_scores, score_target

        chosen = score_target(target, os.environ if environ is None else environ)
        return self._read_each(export_scores, selection.debates, chosen, self.store_url, dry_run=dry_run, say=say)


def _compare(
    store: "EventStore", a: str, b: str, kind: "Kind | None", *, flips: int | None, count: "Count | None"
) -> "ComparedDebates | ComparedRuns":
    from jury_judge.comparisons.comparing import ComparedRuns, compared

    found = compared(store, a, b, kind, flips=flips, count=count, strict=True)
    return _paired(store, found, count) if isinstance(found, ComparedRuns) else found


def _paired(store: "EventStore", found: "ComparedRuns", count: "Count | None") -> "ComparedRuns":
    """With the paired table, or why there is none. Simulated debates count, with a warning."""
    from jury_analysis.errors import AnalysisError
    from jury_events.errors import DebateNotFound
    from jury_judge.errors import ExtraMissing
    from jury_judge.extras import check_statistics
    from jury_judge.reports.run_reports import computed_pairs

    try:
        check_statistics("the paired table of two runs")
        found_table = computed_pairs(store, found.compared.a.run_id, found.compared.b.run_id, count)
        return found._replace(paired=found_table)
    except (AnalysisError, DebateNotFound, ExtraMissing) as error:
        return found._replace(unpaired=str(error))
