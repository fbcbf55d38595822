"""Appends that wait for an unreachable store, for how long, and which are recognised as stored when it is back."""

import asyncio
from collections.abc import Sequence

import pytest

from jury_actors import Backoff, Clerk, ClerkClient, StoreRetry
from jury_events import StoredEvent
from jury_store import Append, Appended, StoreError, StoreFailed
from support.debates import DebateScript
from support.jurors import BlockableClerk
from support.runtime_harness import KeptStore
from support.waiting import until

AT_ONCE = Backoff(base=0.0)


class Outage:
    """Lets so many attempts fail; each takes a second on its clock."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.now = 0.0
        self.said: list[str] = []

    def patience(self, seconds: float) -> StoreRetry:
        return StoreRetry(seconds, self.said.append, clock=lambda: self.now, tries=AT_ONCE)

    async def attempt(self) -> str:
        self.now += 1
        if self.left:
            self.left -= 1
            raise StoreFailed("the database is away")
        return "stored"


async def test_an_outage_that_ends_in_time_is_reported_once() -> None:
    outage = Outage(9)
    patience = outage.patience(10)
    found = await patience.run(outage.attempt)

    assert ("stored", True) == found
    assert [
        "the database is away; it is tried again for 10 s, and answers are kept meanwhile",
        "the store can be used again; the run goes on",
    ] == outage.said


async def test_a_store_that_stays_away_is_given_up_and_later_attempts_with_it() -> None:
    outage = Outage(100)
    patience = outage.patience(10)
    with pytest.raises(StoreFailed):
        await patience.run(outage.attempt)
    tried = 100 - outage.left
    with pytest.raises(StoreFailed):
        await patience.run(outage.attempt)

    assert (11, 12) == (tried, 100 - outage.left)
    assert 1 == len(outage.said)


async def test_without_patience_nothing_is_tried_again_or_reported() -> None:
    outage = Outage(1)
    with pytest.raises(StoreFailed):
        await outage.patience(0).run(outage.attempt)

    assert [] == outage.said


async def test_reads_that_succeed_do_not_end_an_outage_of_writes() -> None:
    outage = Outage(100)
    patience = outage.patience(10)
    writing = asyncio.create_task(patience.run(outage.attempt))

    async def read() -> str:
        return "read"

    while not writing.done():
        await asyncio.sleep(0)
        assert ("read", False) == await patience.run(read, reads=True)

    with pytest.raises(StoreFailed):
        await writing
    assert 1 == len(outage.said)


async def test_a_store_that_fails_again_while_a_commit_in_doubt_is_looked_up_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = KeptStore()
    append, read = store.append, store.read_stream
    failures = ["the lookup", "the commit"]

    def doubtful(requests: Sequence[Append]) -> list[Appended | StoreError]:
        answers = append(requests)
        if len(failures) == 2:
            raise StoreFailed(failures.pop())
        return answers

    def looked_up(stream: str) -> list[StoredEvent]:
        if len(failures) == 1:
            raise StoreFailed(failures.pop())
        return read(stream)

    monkeypatch.setattr(store, "append", doubtful)
    monkeypatch.setattr(store, "read_stream", looked_up)
    clerk = Clerk(store, StoreRetry(60, tries=AT_ONCE))
    script = DebateScript("d")
    answers = await clerk.record([Append(script.calls, (script.exchange(1),))])
    clerk.close()

    assert ([Appended(script.calls, 1, 0)], []) == (answers, failures)


@pytest.mark.parametrize("stored", [True, False])
async def test_a_commit_in_doubt_is_no_repeat_when_it_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, *, stored: bool
) -> None:
    store = KeptStore()
    append = store.append
    lost: list[bool] = []

    def doubtful(requests: Sequence[Append]) -> list[Appended | StoreError]:
        if lost:
            return append(requests)
        lost.append(True)
        if stored:
            append(requests)
        raise StoreFailed("the connection was lost during the commit")

    monkeypatch.setattr(store, "append", doubtful)
    clerk = Clerk(store, StoreRetry(60, tries=AT_ONCE))
    script = DebateScript("d")
    answers = await clerk.record([Append(script.calls, (script.exchange(1),))])
    events = len(store.read_stream(script.calls))
    again = await clerk.record([Append(script.calls, (script.exchange(1),))])
    clerk.close()

    assert ([Appended(script.calls, 1, 0)], 1) == (answers, events)
    assert [Appended(script.calls, 1, 1)] == again, "what another had stored is a repeat as before"


async def test_no_call_is_made_while_more_waits_to_be_stored_than_may() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    client = ClerkClient(clerk, most=100)
    script = DebateScript("d")
    appending = asyncio.create_task(client.append(Append(script.calls, (script.exchange(answer=b"x" * 1000),))))
    await until(lambda: clerk.batches)
    waiting = asyncio.create_task(client.room())
    await asyncio.sleep(0)
    before = waiting.done()
    clerk.open.set()
    await appending
    await waiting

    assert not before


async def test_of_two_that_wait_for_room_one_waits_on_while_the_other_fills_it() -> None:
    clerk = BlockableClerk()
    clerk.open.clear()
    client = ClerkClient(clerk, most=100)
    script = DebateScript("d")
    exchanges = [script.exchange(number, answer=b"x" * 1000) for number in range(1, 4)]

    async def append(number: int) -> None:
        await client.room()
        await client.append(Append(script.calls, (exchanges[number],)))

    first = asyncio.create_task(append(0))
    await until(lambda: clerk.batches)
    others = [asyncio.create_task(append(number)) for number in (1, 2)]
    await asyncio.sleep(0)
    clerk.open.set()
    await asyncio.gather(first, *others)

    assert [1, 1, 1] == [len(batch) for batch in clerk.batches]
