"""A run that is cancelled while batches are open: who cancelled it stands in the record of each."""

from pathlib import Path

from batches.test_unusual_nights import cancelled
from batches.test_waves import Night
from jury_actors import batches_of
from jury_events import BatchFacts
from support.batch_double import BatchAccountDouble


async def test_who_cancels_a_run_stands_in_each_open_batch_before_its_provider_is_asked(tmp_path: Path) -> None:
    night = Night(f"sqlite:///{tmp_path / 'jury.db'}", BatchAccountDouble())
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)

    def facts() -> list[BatchFacts]:
        found: list[BatchFacts] = night.read(lambda store: list(batches_of(store, "night")))
        return found

    before = facts()
    await cancelled(night)
    await cancelled(night)  # again changes nothing
    after = facts()

    assert [None] == [one.cancel_requested for one in before]
    assert [("person", "the operator")] == [
        (one.cancel_requested.cause, one.cancel_requested.by) for one in after if one.cancel_requested is not None
    ]
    assert [None] == [one.cancel_sent for one in after]
