"""What a debate that waits for a batch leaves in memory: its id, and for some thousands their rows for the lists."""

import gc
from collections import Counter
from contextlib import suppress
from pathlib import Path

from support.batch_double import BatchAccountDouble
from support.nights import Died, Night

FEW, MANY = 10, 70
BOUNDED = {"OpenDebate", "BallotSheet", "StoredEvent", "Part"}
"""Of the lists at most `MOST_DEBATES`, of the events that they have not taken in at most `MOST_BYTES`."""


async def test_objects_do_not_grow_with_the_debates_that_wait(tmp_path: Path) -> None:
    few, many = [await waiting(tmp_path / f"{count}.db", count) for count in (FEW, MANY)]
    grown = {name for name, count in many.items() if count - few[name] >= (MANY - FEW) // 2}

    assert grown <= BOUNDED


async def waiting(path: Path, debates: int) -> Counter[str]:
    """How many objects of the classes of this project there are while all debates of a run wait, by class."""
    night = Night(f"sqlite:///{path}", BatchAccountDouble(), debates)
    found: Counter[str] = Counter()

    def counted(_batch_id: str) -> bool:
        night.account.requests.clear()  # what a provider has is not ours
        gc.collect()
        found.update(
            type(one).__qualname__ for one in gc.get_objects() if str(type(one).__module__).startswith("jury_")
        )
        raise Died

    night.account.ends = counted
    with suppress(Died):
        await night.session()
    assert [3 * debates] == [len(sent.lines) for sent in night.account.batches.values()]
    return found
