"""Rescoring: recorded debates under other settings, in one reading; nothing is written to them."""

from collections.abc import Iterator

from jury_replay.rescoring.recount import Recount
from jury_replay.rescoring.rows import Problem, Row
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.rescoring.strict import Strict
from jury_replay.selection import Selection, spread
from jury_store.event_store import EventStore


def rescore(
    store: EventStore,
    selection: Selection,
    grid: Grid,
    *,
    mode: Mode = "strict",
    url: str = "",
    processes: int = 1,
) -> Iterator[list[Row] | Problem]:
    """Each debate under every setting, in the order of the selection, in memory that does not grow with their number.

    Args:
        store: open for reading.
        selection: which debates.
        grid: the settings.
        mode: `strict` takes only answers to requests that were really made; `recount` holds every position fixed.
        url: of the store; needed for more than one process.
        processes: how many work.

    Yields:
        The rows of a debate, one a setting in the order of the grid, or why its record cannot be used.

    Raises:
        SettingRefused: the mode cannot answer one of the settings.
        StoreError: the database cannot be read.
    """
    grid.check(mode)
    work = Recount(grid) if mode == "recount" else Strict(grid)
    for found in spread(store, selection.chunks(store), work, url=url, processes=processes):
        yield from found
