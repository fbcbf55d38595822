"""The runs of a store with what they cost and whether they are being executed; from the lists, never from bodies."""

from typing import NamedTuple

from jury_judge.running.live_run import RunState, run_state
from jury_judge.running.open_waves import OpenWave, open_wave
from jury_store.debate_rows import NOTHING_UNRECORDED, RunRow, Totals, Unrecorded
from jury_store.event_store import EventStore
from jury_store.run_registry import RunHolder, RunRegistry


class ListedRun(NamedTuple):
    """A run; `totals` are those of its debates, `holder` the process that executes it.

    `batches`: what of it is in batches now; None: nothing is.
    """

    row: RunRow
    totals: Totals | None
    state: RunState
    holder: RunHolder | None
    batches: OpenWave | None = None

    @property
    def unrecorded(self) -> Unrecorded:
        """Calls that were sent and are not recorded, at most; while the run is executed, also those in flight."""
        return NOTHING_UNRECORDED if self.totals is None else self.row.unrecorded(self.totals)


def listed_runs(store: EventStore, registry: RunRegistry) -> list[ListedRun]:
    """Every run, the newest first.

    Raises:
        StoreError: the store cannot be read.
    """
    rows = store.runs()
    holders = registry.holders([row.run_id for row in rows])
    totals = store.totals_by_run()
    return [
        ListedRun(row, of, run_state(row, holder, 0 if of is None else of.unfinished), holder, _open_wave(store, row))
        for row in reversed(rows)
        for holder, of in [(holders.get(row.run_id), totals.get(row.run_id))]
    ]


def _open_wave(store: EventStore, row: RunRow) -> OpenWave | None:
    return open_wave(store, row.run_id) if row.ended < row.debates else None
