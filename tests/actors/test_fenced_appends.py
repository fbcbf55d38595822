"""What coordinators write to debates carries their epoch: the store can refuse one that another took over."""

from collections.abc import Sequence
from typing import Any

from jury_store import Append, Appended, StoreError
from support.runtime_harness import KeptStore, Run, a_case_with_records, completed


class EpochsSeen(KeptStore):
    """Notes the epoch and the expected version of every append to a debate."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: set[int | None] = set()
        self.unversioned: list[str] = []

    def append(self, requests: Sequence[Append], **options: Any) -> list[Appended | StoreError]:
        for one in requests:
            if one.stream.startswith("debate/"):
                self.epochs.add(one.epoch)
                self.unversioned += [one.stream] if one.expected_version is None else []
        return super().append(requests, **options)


async def test_every_append_to_a_debate_carries_the_epoch_that_was_drawn_and_the_version_that_it_follows() -> None:
    store = EpochsSeen()
    found = await Run(store, debates=2, case=a_case_with_records).execute()
    await Run(store, debates=3, case=a_case_with_records).execute()

    assert completed(found.values())
    assert {1, 2} == store.epochs
    assert [] == store.unversioned
