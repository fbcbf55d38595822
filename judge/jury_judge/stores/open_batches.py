"""Batches of a run that may be answered still."""

from jury_actors.batches.batch_log import batches_of
from jury_events.batch_facts import BatchFacts, batched_calls
from jury_events.ids import batch_stream
from jury_events.text import pluralize
from jury_judge.errors import RunRefused
from jury_store.event_store import EventStore


def open_batches(store: EventStore, run_id: str) -> list[BatchFacts]:
    """The batches of a run whose calls must not be made otherwise, the oldest first."""
    return [one for one in batches_of(store, run_id) if one.open]


def check_no_open_batch(store: EventStore, run_id: str | None) -> None:
    """Check that no call of a run is in a batch that is to be made: made live too, it would be paid twice.

    A call of a debate that is over is made no more.

    Raises:
        RunRefused: one may be.
    """
    found = [] if run_id is None else [one for one in open_batches(store, run_id) if _may_go_on(store, one)]
    if found:
        calls, batches = sum(one.prepared.items for one in found), pluralize(len(found), "batch", "batches")
        raise RunRefused(
            f"{pluralize(calls, 'call')} of run {run_id!r} may be answered still in {batches}: "
            f"made live too, they would be paid twice. Go on with jury run … --run {run_id} --batch, where the batches "
            "were sent from; or cancel the run with jury cancel"
        )


def _may_go_on(store: EventStore, batch: BatchFacts) -> bool:
    """Whether a debate of a batch is not over, or not there."""
    calls = batched_calls(store.read_stream(batch_stream(batch.prepared.batch_id)))
    debates = {call.debate_id for _, call in calls}
    return len(store.ended_positions(debates)) < len(debates)


def waiting_line(store: EventStore, run_id: str) -> str | None:
    """What is in open batches of a run, in words; None: nothing is."""
    found = open_batches(store, run_id)
    if not found:
        return None
    calls = sum(one.prepared.items for one in found)
    return f"{pluralize(calls, 'call')} of run {run_id} wait in {pluralize(len(found), 'batch', 'batches')}"
