"""A run in batches that is cancelled or stopped: what is at its providers is ended or kept, and none of it is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any, TypeVar

import pytest

from jury_actors import BatchPatience, batches_of
from jury_events import BatchFacts
from jury_judge import RunSupervision
from jury_judge.runs import wave_driving
from jury_providers import BatchLine, ItemEnd
from jury_store import open_registry
from support.batch_double import BatchDouble
from support.nights import Night, cancelled, exchanges
from support.tiers import others_full

T = TypeVar("T")


def the_batch(night: Night) -> BatchFacts:
    (facts,) = night.read(lambda store: list(batches_of(store, "night")))
    assert isinstance(facts, BatchFacts)
    return facts


def asked_to_end(facts: BatchFacts) -> tuple[str, str | None] | None:
    asked = facts.cancel_requested
    return None if asked is None else (asked.cause, asked.by)


async def test_who_cancels_a_run_stands_in_each_open_batch_before_its_provider_is_asked(night: Night) -> None:
    """The next pass asks it; what was answered until then is recorded, and not used."""
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    before = the_batch(night)
    said = await cancelled(night)
    await cancelled(night)  # again changes nothing
    after = the_batch(night)

    def first_was_answered(lines: list[BatchLine]) -> list[BatchLine]:
        first, *others = lines
        trace = next(iter(night.account.requests))
        return [first._replace(end=ItemEnd.ANSWERED, response=trace.encode()), *others]

    night.account.changes = first_was_answered
    await night.session(once=True)
    ended = the_batch(night)

    assert ["9 calls may be answered still in 1 batch, and are billed if they are"] == [
        line.partition(":")[0] for line in said
    ]
    assert [None, ("person", "the operator")] == [asked_to_end(before), asked_to_end(after)]
    assert (None, set()) == (after.cancel_sent, night.account.cancelled - {"sent-1"})
    assert {"sent-1"} == night.account.cancelled
    assert ended.cancel_sent is not None
    assert ended.closed is not None
    assert (9, 0) == (len(ended.unanswered), len(night.read(exchanges)))
    assert 1 == len([line for line in night.said if "not used" in line])
    assert 1 == len([line for line in night.said if "since the run was cancelled by the operator" in line])
    assert 1 == len(night.account.batches)


async def test_a_process_that_waits_for_batches_has_them_ended_when_its_run_is_cancelled(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    looks: list[float] = []
    with ExitStack() as asking:

        async def looked(seconds: float) -> None:
            looks.append(seconds)
            if len(looks) == 1:
                asking.enter_context(open_registry(night.url).asking_to_cancel("night", "the operator"))
                await asyncio.Event().wait()  # until the run hears of it

        await night.session(sleep=looked, supervision=RunSupervision(night.url, "night", every=0.01))
    facts = the_batch(night)

    assert {"sent-1"} == night.account.cancelled
    assert facts.closed is not None
    assert ("person", "the operator") == asked_to_end(facts)
    assert 1 == len([line for line in night.said if "what it has answered already is billed" in line])
    assert 1 == len(night.account.batches)
    assert {"cancelled"} == night.read(lambda store: {row.status for row in store.debates(run_id="night")})


def hanging(monkeypatch: pytest.MonkeyPatch, name: str, arrived: Callable[[], None]) -> None:
    """A provider that takes what it is asked and does not answer, as long as this patch lasts."""
    answers = getattr(BatchDouble, name)

    async def hangs(self: BatchDouble, *given: Any) -> Any:
        await answers(self, *given)
        arrived()
        await asyncio.Event().wait()

    monkeypatch.setattr(BatchDouble, name, hangs)
    monkeypatch.setattr(wave_driving, "_GRACE", 0.01)
    monkeypatch.setattr(wave_driving, "_WINDING_UP", 0.01)


@pytest.mark.parametrize("call", others_full("find", "upload", "submit", "state"))
async def test_a_run_is_stopped_while_its_provider_does_not_answer(
    night: Night, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = asyncio.Event()
    night.account.ends = lambda _batch_id: False
    if call == "find":  # what was recorded and not sent is looked for
        with monkeypatch.context() as before:
            hanging(before, "upload", (first := asyncio.Event()).set)
            await night.session(stopping=first)
    with monkeypatch.context() as patched:
        hanging(patched, call, stopping.set)
        lines = await night.session(stopping=stopping)
    night.account.ends = lambda _batch_id: True
    after = await night.session(patience=BatchPatience(arrival=0.0))

    assert [] == lines
    assert night.count == len(after)
    assert [] == night.sent_twice()
    assert {1} == set(night.account.asked.values())


async def within(work: Awaitable[T]) -> T:
    """Guards against hanging."""
    return await asyncio.wait_for(work, 120)


@pytest.mark.full
@pytest.mark.parametrize("call", ["state", "submit", "cancel"])
async def test_debates_of_a_cancelled_run_end_though_its_provider_does_not_answer(
    night: Night, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()
    night.account.ends = lambda _batch_id: False

    async def cancel() -> None:
        await asked.wait()
        with open_registry(night.url).asking_to_cancel("night", "the operator"):
            await judging

    async def looked(_seconds: float) -> None:
        asked.set()
        await asyncio.sleep(0)

    hanging(monkeypatch, call, asked.set)
    judging = asyncio.ensure_future(
        night.session(supervision=RunSupervision(night.url, "night", every=0.01), sleep=looked)
    )
    await within(cancel())
    facts = the_batch(night)

    # Where the submission alone is not answered, the batch may be found and ended in the time that is left.
    assert facts.open or call == "submit"
    assert facts.cancel_requested is not None
    assert {"cancelled"} == night.read(lambda store: {row.status for row in store.debates(run_id="night")})
    assert [] == night.read(exchanges)
