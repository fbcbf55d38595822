"""Runs in batches that are cancelled, use tools, or have a clock that jumps."""

import asyncio
import json
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from jury_actors import BatchLifecycle, BatchLog, BatchPatience, Clerk, Effects, FilledSpool, batches_of
from jury_actors.batches.wave_spool import SpooledCall, a_nonce, custom_id
from jury_judge import RunSupervision
from jury_providers import BatchLine, ItemEnd, RefusedLine
from jury_providers.batches.limits import BatchLimits
from jury_store import open_registry, open_store
from support import nights
from support.nights import Night, SetClock, cancelled, exchanges, live_verdicts, rows, verdicts
from support.tiers import others_full


async def test_a_run_that_is_cancelled_says_what_may_be_billed_all_the_same(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    said = await cancelled(night)
    (facts,) = night.read(lambda store: list(batches_of(store, "night")))

    assert facts.cancel_requested is not None
    assert ("person", "the operator") == (facts.cancel_requested.cause, facts.cancel_requested.by)
    assert ["9 calls may be answered still in 1 batch, and are billed if they are"] == [
        line.partition(":")[0] for line in said
    ]


async def test_the_next_pass_ends_the_batches_of_a_cancelled_run_at_their_provider(night: Night) -> None:
    night.account.ends = lambda _batch_id: False
    await night.session(once=True)
    await cancelled(night)

    def first_was_answered(lines: list[BatchLine]) -> list[BatchLine]:
        first, *others = lines
        trace = next(iter(night.account.requests))
        return [first._replace(end=ItemEnd.ANSWERED, response=trace.encode()), *others]

    night.account.changes = first_was_answered
    await night.session()
    (facts,) = night.read(lambda store: list(batches_of(store, "night")))

    assert {"sent-1"} == night.account.cancelled
    assert facts.closed is not None
    assert 9 == len(facts.unanswered)
    assert [] == night.read(exchanges)
    assert 1 == len([line for line in night.said if "not used" in line])
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
    (facts,) = night.read(lambda store: list(batches_of(store, "night")))
    rows = night.read(lambda store: store.debates(run_id="night"))

    assert {"sent-1"} == night.account.cancelled
    assert facts.closed is not None
    assert facts.cancel_requested is not None
    assert ("person", "the operator") == (facts.cancel_requested.cause, facts.cancel_requested.by)
    assert 1 == len([line for line in night.said if "what it has answered already is billed" in line])
    assert 1 == len(night.account.batches)
    assert {"cancelled"} == {row.status for row in rows}


@pytest.fixture
def with_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases with records, which jurors read by tools."""
    record = {"id": "r1", "verdict": "needs_review", "reason": "It refunded without asking.", "prompt": "Refund."}

    def recorded(count: int) -> list[dict[str, Any]]:
        return [one | {"security_gate_records": [record]} for one in rows(count)]

    monkeypatch.setattr(nights, "rows", recorded)


@pytest.mark.parametrize("turns", others_full("first", "all"))
@pytest.mark.usefixtures("with_records")
async def test_the_turns_after_a_tool_are_live_unless_all_are_to_be_in_batches(night: Night, turns: str) -> None:
    lines = await night.session(all_turns=turns == "all")
    recorded = night.read(exchanges)
    later = [one.via is not None for one in recorded if one.turn > 1]

    assert later
    assert {turns == "all"} == set(later)
    assert {True} == {one.via is not None for one in recorded if one.turn == 1}
    assert verdicts(lines) == await live_verdicts(night)


async def test_a_clock_that_leaps_ahead_cancels_at_most_and_sends_nothing_twice(night: Night) -> None:
    clock = SetClock()

    def leaps(batch_id: str) -> bool:
        clock.hours = 30
        return batch_id != "sent-1"

    night.account.ends = leaps
    lines = await night.session(clock=clock, patience=BatchPatience(arrival=0.0))

    assert {"sent-1"} == night.account.cancelled
    assert {1} == set(night.account.asked.values())
    assert verdicts(lines) == await live_verdicts(night)


async def test_a_clock_that_goes_back_cancels_nothing(night: Night) -> None:
    clock, looks = SetClock(), iter(range(10))

    def goes_back(_batch_id: str) -> bool:
        clock.hours = -100
        return next(looks, 10) > 3

    night.account.ends = goes_back
    lines = await night.session(clock=clock)

    assert set() == night.account.cancelled
    assert [] == night.sent_twice()
    assert verdicts(lines) == await live_verdicts(night)


@pytest.mark.parametrize("bound", others_full("items", "bytes"))
async def test_waves_are_split_by_what_a_batch_may_have(night: Night, bound: str) -> None:
    most = 4 if bound == "items" else 10**9
    size = 50_000_000 if bound == "items" else 30_000
    night.account.limits = BatchLimits(most, size, True, True, 24, 24)
    lines = await night.session()
    sent = [list(one.lines) for one in night.account.batches.values()]

    assert len(sent) > 3
    assert max(map(len, sent)) <= most
    assert max(sum(len(line) + 1 for line in one) for one in sent) <= size
    assert [] == night.sent_twice()
    assert verdicts(lines) == await live_verdicts(night)


@pytest.mark.full
async def test_one_bad_line_frees_the_others_of_a_batch_of_thousands(night: Night) -> None:
    """Of 5,000 lines, as many as a wave puts into a batch; without their debates, which are of no account for it."""
    lines = 5_000
    store = night.read(lambda _store: open_store(night.url, write=True))
    with closing(Clerk(store)) as clerk:
        effects = Effects()
        lifecycle = BatchLifecycle("night", BatchLog(store, clerk, effects), clerk, night.account.providers, say=print)
        facts = await lifecycle.launch(a_spool(night, lines, effects), 1)
        night.account.refused["sent-1"] = (RefusedLine(2_500, "no such parameter"),)
        facts = await lifecycle.advance(facts)

    assert facts.closed is not None
    assert set(range(1, lines + 1)) == facts.unanswered
    assert (0, lines) == (facts.closed.answered, facts.closed.unanswered)


def a_spool(night: Night, lines: int, effects: Effects) -> FilledSpool:
    spool = FilledSpool(
        "simulated", "juror", a_nonce(effects), Path(night.url.removeprefix("sqlite:///")).with_name("s")
    )
    written = [
        json.dumps({"custom_id": custom_id(spool.nonce, number), "trace": f"t{number}"})
        for number in range(1, lines + 1)
    ]
    spool.path.write_text("".join(line + "\n" for line in written))
    spool.size = spool.path.stat().st_size
    spool.calls += [
        SpooledCall(f"night~c{number}", "initial/a/simulated%2Fjuror/1/1", "0a" * 32) for number in range(1, lines + 1)
    ]
    return spool
