"""The verdicts of smaller panels and fewer rounds, by recounting the records of a store under the debates' rules."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from jury_analysis.frontier import SmallerPanel
from jury_analysis.panel_worth import PanelWorth, WorthOptions, panel_worth
from jury_analysis.scale import without_own_words
from jury_analysis.vote_matrix import VoteMatrix
from jury_judge.tables.ballot_sources import stored_ballots
from jury_replay.errors import RecordDamaged
from jury_replay.rescoring.rescore import RecountRescoring
from jury_replay.rescoring.rows import RescoreProblem, RescoreRow, RescoreStatus
from jury_replay.rescoring.settings import Grid, Setting
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore

_CHUNK = 20
"""Debates whose rows are in memory at once."""


class PanelRecount:
    """A `jury_analysis.panel_worth.Recount` over a store.

    A choice of seats and rounds is a setting of `jury rescore --recount`: `without` the other seats, `max_rounds`.
    """

    def __init__(self, store: EventStore, counted: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._counted = counted

    def __call__(
        self, matrix: VoteMatrix, subsets: Sequence[tuple[str, ...]], most_rounds: Sequence[int]
    ) -> Iterator[SmallerPanel]:
        """See `jury_analysis.panel_worth.Recount`."""
        choices = [(subset, most) for most in most_rounds for subset in subsets]
        grid = Grid(tuple(_setting(matrix.seats, subset, most) for subset, most in choices))
        shape = (len(choices), matrix.units)
        verdicts = np.full(shape, -1, dtype=np.int8)
        total = np.zeros(shape, dtype=np.int64)
        exact = np.zeros(shape, dtype=np.bool_)
        for unit, rows in enumerate(self._rows(grid, matrix.debates.to_pylist())):
            for choice, row in enumerate(rows):
                if row.new_verdict is not None:
                    verdicts[choice, unit] = matrix.scale.code(row.new_verdict)
                    total[choice, unit] = row.new_total_rounds or 0
                exact[choice, unit] = row.status is RescoreStatus.DETERMINED
        for choice, (subset, most) in enumerate(choices):
            yield SmallerPanel(subset, most, verdicts[choice], total[choice], exact[choice])

    def _rows(self, grid: Grid, debates: Sequence[str]) -> Iterator[list[RescoreRow]]:
        work = RecountRescoring(grid)
        for start in range(0, len(debates), _CHUNK):
            for found in work(self._store, debates[start : start + _CHUNK]):
                if isinstance(found, RescoreProblem):
                    raise RecordDamaged(
                        f"{found.debate_id}: {found.what}; check it with jury verify, or choose debates without it"
                    )
                self._counted()
                yield found


def worth_of_stored(
    store: EventStore,
    wanted: DebateFilter,
    run_ids: Sequence[str],
    labels: pa.Table | None,
    options: WorthOptions | None,
) -> PanelWorth:
    """What the seats and rounds of debates of a store are worth."""
    ballots = without_own_words(stored_ballots(store, wanted, run_ids=run_ids))
    return panel_worth(ballots, labels, options, PanelRecount(store))


def _setting(seats: Sequence[str], subset: Sequence[str], most: int) -> Setting:
    without = tuple(seat for seat in seats if seat not in subset)
    # A calibration is of the whole panel: smaller ones are compared without it.
    return Setting(max_rounds=most, without=without or None, calibration="off")
