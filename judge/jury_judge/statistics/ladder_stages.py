"""Where the votes of a ladder's stages are recorded: a run a stage, or one run by the ladder itself.

A run by a ladder without a certificate (`certificate: none`) has judged every case in every stage: its votes are no
selection.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jury_events.debate_events import DebateOpened
from jury_events.errors import DebateNotFound, SettingError
from jury_events.text import visible_line
from jury_judge.stores.debates import opening_of
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST


class LadderStage(NamedTuple):
    """`name` is shown; `stage` is the number of the stage in a run by a ladder, None where the run is the stage's."""

    name: str
    run_id: str
    stage: int | None = None

    def of(self, wanted: DebateFilter) -> DebateFilter:
        """These debates of the stage; a ladder's lists have one debate a case unless a stage is named."""
        return wanted if self.stage is None else wanted._replace(stage=self.stage)


def ladder_stages(store: EventStore, run_ids: Sequence[str]) -> tuple[LadderStage, ...]:
    """The stages of a ladder.

    Args:
        run_ids: one of each stage, or one by the ladder.
    """
    if len(run_ids) != 1:
        return tuple(LadderStage(run_id, run_id) for run_id in run_ids)
    (run_id,) = run_ids
    first = _first(store, run_id)
    if first is None:
        raise DebateNotFound(f"run {visible_line(run_id, 60)} has no debate")
    place, shown = first.stage, visible_line(run_id, 60)
    if place is None:
        raise SettingError(
            f"run {shown} is by no ladder: name a run of each stage, parted by ;, or one run by a ladder with "
            "certificate: none"
        )
    if place.every_case is None:
        raise SettingError(
            f"run {shown} is by a ladder with a certificate: later stages saw a selection of the cases, so their votes "
            "certify nothing; judge all labelled cases by the ladder with certificate: none"
        )
    return tuple(LadderStage(f"{run_id} stage {number}", run_id, number) for number in range(1, place.of + 1))


def _first(store: EventStore, run_id: str) -> DebateOpened | None:
    wanted = DebateFilter(run_id, counted=None)
    return next((opening_of(store, row.debate_id) for row in store.list_debates(wanted, OLDEST, limit=1)), None)
