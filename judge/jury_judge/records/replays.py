"""Recorded debates done again: replayed, rescored. No model is called."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from jury_events.errors import SettingError
from jury_events.text.visible_text import visible_line
from jury_judge.records.open_store import OpenStore, Where, check_debate_id, conditions_of
from jury_judge.replays.grids import grid_of
from jury_judge.stores.debates import must_exist
from jury_replay.replay import Replayed, replay_chunk
from jury_replay.rescoring.rescore import rescore
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Mode
from jury_replay.selection import DebateSelection
from jury_store.event_store import EventStore


class ReplayRecords(OpenStore):
    """Replay and rescoring."""

    async def replay(self, debate_id: str) -> Replayed:
        """Whether the record of a debate follows from the answers of its models; no model is called.

        Raises:
            DebateNotFound: there is none of that id.
        """
        check_debate_id(debate_id)
        return (await self._read(replay_chunk, [debate_id]))[0]

    async def rescore(
        self,
        debate_ids: str | Iterable[str] | None = None,
        *,
        settings: Mapping[str, Any],
        run_id: str | None = None,
        where: Where = (),
        mode: Mode = "strict",
    ) -> list[RescoreRow | RescoreProblem]:
        """The results of recorded debates under other settings; no model is called, nothing is written.

        Args:
            debate_ids: which debates; None is those of `run_id`, else all.
            settings: by key (`docs/rescoring.md`) a value, or a list of values to try; several keys make a grid.
            run_id: a run.
            where: conditions on the cases (docs/filtering.md), which select among those of a run, or all.
            mode: `strict`, or `recount`, which keeps every recorded position.

        Raises:
            SettingError, SettingRefused: a setting is not understood, or the mode cannot answer it.
            BadCondition: not a valid condition.
            DebateNotFound: no debate has that id, is of that run, or meets the conditions.
        """
        if mode not in get_args(Mode):
            raise SettingError(f"mode: must be {' or '.join(get_args(Mode))}, not {visible_line(repr(mode), 80)}")
        if not isinstance(settings, Mapping):
            raise SettingError(f"settings: must be a table KEY: value, not a {type(settings).__name__}")
        ids = (debate_ids,) if isinstance(debate_ids, str) else None if debate_ids is None else tuple(debate_ids)
        for one in ids or ():
            check_debate_id(one)
        conditions = conditions_of(where)
        if ids is not None and conditions:
            raise SettingError("where: it selects among the debates of a run, or all; leave debate_ids out")
        selection = DebateSelection(ids, run_id, conditions)
        grid = grid_of(settings)

        def rows(store: EventStore) -> list[RescoreRow | RescoreProblem]:
            must_exist(store, selection)
            found = rescore(store, selection, grid, mode=mode)
            return [row for one in found for row in ([one] if isinstance(one, RescoreProblem) else one)]

        return await self._read(rows)
