"""Recorded debates done again: replayed, rescored. No model is called."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_judge.records.open_store import OpenStore, Where, check_debate_id, conditions_of

if TYPE_CHECKING:
    from jury_judge.settings.auditing import Rescoring
    from jury_judge.settings.debates import Selection
    from jury_replay.replay import Replayed
    from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
    from jury_replay.rescoring.settings import Mode


class ReplayRecords(OpenStore):
    """Replay and rescoring."""

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
        from jury_judge.replays.stored_debates import replayed

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
        from jury_judge.replays.grids import grid_of
        from jury_judge.replays.stored_debates import all_rows
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
        from jury_judge.replays.stored_debates import rescored

        return self._read_each(rescored, asked, self.store_url, parquet, self._offline())
