"""Debates of a store done again."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from jury_events.errors import EventError
from jury_judge.settings.debates import Rescoring
from jury_judge.stores.debates import must_exist
from jury_replay.errors import RecordDamaged
from jury_replay.intact import intact_history
from jury_replay.replay import Replayed, replay
from jury_replay.rescoring.rescore import rescore, worth_sharing
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.selection import DebateSelection, processes_for
from jury_store.event_store import EventStore


def replayed(
    store: EventStore,
    selection: DebateSelection,
    url: str,
    processes: int | None,
    offline: AbstractContextManager[None],
) -> Generator[Replayed, None, None]:
    """Replay debates; errors as of `Records.replay_many`. `offline` is in force meanwhile."""
    must_exist(store, selection)
    at_once = processes_for(store, selection, processes)
    with offline:
        yield from replay(store, selection, url=url, processes=at_once)


def rescored(
    store: EventStore, asked: Rescoring, url: str, parquet: Path | None, offline: AbstractContextManager[None]
) -> Generator[list[RescoreRow] | RescoreProblem, None, None]:
    """Rescore debates; arguments and errors as of `Records.rescore_many`. `offline` is in force meanwhile."""
    selection = asked.selection.debates
    must_exist(store, selection)
    worth_it = worth_sharing(asked.grid, asked.mode)
    at_once = processes_for(store, selection, asked.processes, worth_it=worth_it)
    with ExitStack() as stack:
        file = None
        if parquet is not None:
            from jury_replay.rescoring.row_file import RowFile  # noqa: PLC0415  (slow to import: pyarrow)

            file = stack.enter_context(RowFile(parquet))
        stack.enter_context(offline)
        rows = rescore(store, selection, asked.grid, mode=asked.mode, url=url, processes=at_once)
        for found in _unaltered(store, selection, rows):
            if file is not None and not isinstance(found, RescoreProblem):
                file.take(found)
            yield found


def all_rows(
    store: EventStore, selection: DebateSelection, grid: Grid, mode: Mode
) -> list[RescoreRow | RescoreProblem]:
    """Every row at once, debate by debate."""
    must_exist(store, selection)
    found = _unaltered(store, selection, rescore(store, selection, grid, mode=mode))
    return [row for one in found for row in ([one] if isinstance(one, RescoreProblem) else one)]


def _unaltered(
    store: EventStore, selection: DebateSelection, rows: Iterable[list[RescoreRow] | RescoreProblem]
) -> Iterator[list[RescoreRow] | RescoreProblem]:
    """What was found of debates; of one that was named and altered, that it was."""
    if selection.debate_ids is None:
        yield from rows
        return
    for debate_id, found in zip(selection.debate_ids, rows, strict=True):
        try:
            if not isinstance(found, RescoreProblem):
                intact_history(store, debate_id)
            yield found
        except (RecordDamaged, EventError) as error:
            yield RescoreProblem(debate_id, str(error))
