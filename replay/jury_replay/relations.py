"""What debates and batches say of each other: checked where a debate or a batch by itself is whole."""

from collections.abc import Iterator

from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError
from jury_replay.batch_checks import BatchChecks
from jury_replay.integrity import IntegrityFailure
from jury_replay.quarantine import is_set_aside
from jury_replay.stage_checks import StageChecks
from jury_store.event_store import EventStore


class Relations:
    """Of one store, whose batches are read once."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._batches = BatchChecks(store)
        self._stages = StageChecks(store)

    def failures(self, history: DebateHistory) -> Iterator[IntegrityFailure]:
        """Of one debate, or of one batch; the waves of a run are checked with its first batch."""
        if is_set_aside(history.stored_local):
            return
        try:
            if not history.is_batch:
                yield from self._batches.of_debate(history)
                yield from self._stages.of_debate(history)
                return
        except EventError:
            return  # replay reports it
        yield from self._batches.of_batch(history)
        run_id = history.debate_id.split("~")[0]
        if self._store.batch_ids(run_id)[:1] == [history.debate_id]:
            yield from self._batches.of_run(run_id)
