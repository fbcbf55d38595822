"""A run by a ladder while its second stage is under way: cancelled and gone on with, and audited."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jury_judge import Records, Verification, judge_run
from support.ladders import Accepts, a_ladder, staged
from support.runtime_harness import Meter
from support.waiting import until

PASSES: Accepts = {"pass": 1.0}


@pytest.fixture
def second(meter: Meter) -> Meter:
    """Calls of the second stage wait until they are let through."""
    meter.closed_for = lambda trace: "~s2/" in trace
    return meter


async def test_what_waits_in_the_second_stage_is_judged_after_the_run_was_reopened(
    cases: Path, tmp_path: Path, url: str, second: Meter
) -> None:
    ladder = a_ladder(tmp_path, PASSES)
    lines: list[Any] = []
    again: list[Any] = []

    judging = asyncio.create_task(judge_run(staged(cases, url, ladder, concurrency=1), lines.append))
    await until(lambda: second.running == 4)
    async with Records(url) as records:
        cancelling = asyncio.create_task(records.cancel("r", by="ann"))
        await until(lambda: any(row.status == "cancelled" for row in records.store.debates(run_id="r")))
        second.open_again()
        outcome, done = await judging, await cancelling
        stopped = await records.run_counts("r")
        after = await judge_run(staged(cases, url, ladder), again.append)
        ended = await records.run_counts("r")

    assert ("ann", "ann", 1) == (outcome.cancelled_by, done.by, done.debates)
    assert stopped is not None
    assert ended is not None
    assert ("ann", None) == (stopped.cancelled_by, ended.cancelled_by)
    assert [("r~c0", "completed"), ("r~c1~s2", "cancelled")] == [(one["debate_id"], one["status"]) for one in lines]
    assert (6, True) == (len(again), after.whole)
    assert ["cancelled"] + ["completed"] * 5 == sorted(line["status"] for line in again)


async def test_an_audit_keeps_no_line_waiting(cases: Path, tmp_path: Path, url: str, second: Meter) -> None:
    lines: list[Any] = []
    judging = asyncio.create_task(judge_run(staged(cases, url, a_ladder(tmp_path, PASSES, audit=1.0)), lines.append))

    await until(lambda: ["r~c0"] == [line["debate_id"] for line in lines])
    second.open_again()
    outcome = await judging

    assert outcome.whole
    assert [f"c{number}" for number in range(6)] == [line["case_id"] for line in lines]


async def test_a_first_stage_that_was_cancelled_is_judged_again_and_counts_once(
    cases: Path, tmp_path: Path, url: str, second: Meter
) -> None:
    second.closed_for = lambda trace: "~c1/" in trace
    ladder = a_ladder(tmp_path, PASSES)

    judging = asyncio.create_task(judge_run(staged(cases, url, ladder, concurrency=1), lambda _line: None))
    await until(lambda: second.running == 2)
    async with Records(url) as records:
        cancelling = asyncio.create_task(records.cancel("r", by="ann"))
        await until(lambda: any(row.status == "cancelled" for row in records.store.debates(run_id="r")))
        second.open_again()
        await asyncio.gather(judging, cancelling)
        planned = staged(cases, url, ladder)
        planned.again = "no_evaluation"
        after = await judge_run(planned, lambda _line: None)
        ended = await records.run_counts("r")
        verified = await records.verify(Verification(everything=True, deep=True))

    assert ended is not None
    assert (True, 6, 6) == (after.whole, ended.ended, ended.total)
    assert () == verified.failures
