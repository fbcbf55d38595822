"""Several coordinators on Ray: a killed one resumes its own debates, and all debates end as under a single one."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from jury_actors import place_of, ray_runtime
from jury_replay import verify
from jury_store import EventStore
from support.counted_script import CountedScript, served
from support.processes import actor_process
from support.runtime_harness import (
    TWO_SEATS,
    KeptStore,
    Run,
    a_case_with_records,
    broken_promises,
    completed,
)
from support.waiting import comes

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]


def verdict(run: Run, debate_id: str) -> bytes:
    """The body of the debate's last event: verdict, score, rounds and how it ended; it contains no text."""
    return run.event_bodies(debate_id)[-1][1]


def open_debates(run: Run, place: int) -> int:
    """How many debates of a coordinator have begun and not ended."""
    events = (run.event_ids(debate) for debate in run.cases if place_of(debate, 2) == place)
    return sum("opened" in ids and "completed" not in ids for ids in events)


@pytest.mark.full
async def test_a_killed_coordinator_is_replaced_and_goes_on_with_its_own_debates(
    sqlite_url: str, reader: EventStore, tmp_path: Path
) -> None:
    here = Run(KeptStore(), debates=12, case=a_case_with_records, **TWO_SEATS)
    await here.execute()
    run = Run(reader, debates=12, case=a_case_with_records, **TWO_SEATS)
    script = CountedScript(latency=0.6, seed=3, calls=str(tmp_path / "calls"))
    said: list[str] = []
    async with ray_runtime.ray_runtime(run.plan(script, url=sqlite_url, coordinators=2), say=said.append) as runtime:
        running = asyncio.create_task(run.execute_in(runtime))
        await comes(lambda: running.done() or all(open_debates(run, place) >= 3 for place in (0, 1)))
        os.kill(actor_process("CoordinatorActor"), signal.SIGKILL)
        found = await running
    counts = served(tmp_path / "calls")
    resumed = [debate for debate in run.cases if any("resumed/" in one for one in run.event_ids(debate))]

    assert completed(found.values())
    assert verify(reader).ok
    assert [verdict(here, debate) for debate in here.cases] == [verdict(run, debate) for debate in run.cases]
    assert not [broken for debate in run.cases for broken in broken_promises(reader, debate, counts[debate])]
    assert {0, 1} == {place_of(debate, 2) for debate in run.cases}
    assert 1 == len({place_of(debate, 2) for debate in resumed})
    assert ["a coordinator's process was lost; another takes its place and goes on with its debates"] == said
