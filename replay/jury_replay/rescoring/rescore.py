"""Rescoring: recorded debates under other settings, each read once; nothing is written to them."""

from collections.abc import Iterator, Mapping

from jury_replay.rescoring.recount import RecountRescoring
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow
from jury_replay.rescoring.settings import Grid, Mode
from jury_replay.rescoring.strict import StrictRescoring
from jury_replay.selection import CHUNK, DebateSelection, spread
from jury_store.event_store import EventStore

_SECONDS: Mapping[Mode, tuple[float, float]] = {"strict": (0.003, 0.001), "recount": (0.0004, 0.0001)}
"""Seconds to read a debate, and for each setting, about (see `benchmarks/replay.py`)."""

_CHUNK = 0.5
"""Most seconds of work in a chunk of several debates: a worker is not stopped within one."""

_SHARED_FROM = 4.0
"""Seconds of work from which on more processes pay for their start, which takes one or two."""


def worth_sharing(grid: Grid, mode: Mode) -> int:
    """The number of debates from which on several processes are quicker than one."""
    return int(_SHARED_FROM / _seconds(grid, mode))


def _seconds(grid: Grid, mode: Mode) -> float:
    reading, setting = _SECONDS[mode]
    return reading + setting * len(grid.settings)


def rescore(
    store: EventStore,
    selection: DebateSelection,
    grid: Grid,
    *,
    mode: Mode = "strict",
    url: str = "",
    processes: int = 1,
) -> Iterator[list[RescoreRow] | RescoreProblem]:
    """Each debate under every setting, in the order of the selection, in memory that does not grow with their number.

    Args:
        mode: `strict` uses only answers to identical requests; `recount` keeps every recorded position.
        url: of the store; needed for more than one process.

    Yields:
        The rows of a debate, one a setting in the order of the grid, or why its record cannot be used.
    """
    grid.check(mode)
    work = RecountRescoring(grid) if mode == "recount" else StrictRescoring(grid)
    size = max(1, min(CHUNK, int(_CHUNK / _seconds(grid, mode))))
    for found in spread(store, selection.chunks(store, size), work, url=url, processes=processes):
        yield from found
