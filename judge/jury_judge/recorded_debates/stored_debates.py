"""Debates of a store replayed, rescored and verified."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

from jury_events.errors import EventError
from jury_judge.settings.auditing import Rescoring, Verification
from jury_judge.store_access.debates import must_be_known, must_exist
from jury_replay.errors import RecordDamaged
from jury_replay.intact import intact_history
from jury_replay.integrity import IntegrityFailure
from jury_replay.replay import Replayed, replay
from jury_replay.rescoring.rescore import rescore, worth_sharing
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.selection import DebateSelection, processes_for
from jury_replay.verify import VerifyReport, verify
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


_WORTH_IT = 5000
"""From so many debates more processes are faster than their start is slow: checking one takes about a ms."""


def verified(store: EventStore, asked: Verification, progress: Callable[[int], None] | None, url: str) -> VerifyReport:
    """Verify the store at `url`; arguments and errors as of `Records.verify`."""
    selection = DebateSelection(asked.debate_ids or None, where=asked.where)
    must_exist(store, selection._replace(debate_ids=None))
    must_be_known(store, asked.debate_ids)
    whole = asked.whole
    report = verify(
        store,
        None if whole else [one for chunk in selection.chunks(store) for one in chunk],
        progress,
        deep=asked.deep,
        keys=asked.keys,
        checkpoints=asked.checkpoints,
        trust=asked.trust,
        url=url,
        processes=processes_for(store, selection, asked.processes, worth_it=_WORTH_IT),
    )
    if not whole:
        return report
    from jury_migrations.upgrading import check  # noqa: PLC0415  (slow to import: Alembic)

    # A key or guard that the database lacks, or a trigger or view that it should not have.
    faults = [IntegrityFailure("", f"the schema is not the declared one: {difference}") for difference in check(url)]
    return replace(report, failures=(*report.failures, *faults))
