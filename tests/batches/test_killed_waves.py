"""kill -9 at every step of a wave: the same command goes on, nothing is paid twice, nothing is lost."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from batches.test_waves_over_servers import ServedNight, served
from jury_replay import verify
from support.nights import exchanges, verdicts
from support.started_processes import ends_with_the_test
from support.vendors.batch_script import CALLS, BatchScript

SESSION = Path(__file__).with_name("night_session.py")
POINTS = [
    pytest.param("upload", 0, "timeout", id="prepared"),
    pytest.param("upload", 1, "lost_timeout", id="a file has arrived, and is not recorded"),
    pytest.param("submit", 0, "timeout", id="uploaded"),
    pytest.param("submit", 1, "lost_timeout", id="submitted, and not recorded"),
    pytest.param("submit", 2, "lost_timeout", id="submitted to Anthropic, and not recorded"),
    pytest.param("state", 0, "timeout", id="submitted"),
    pytest.param("results", 2, "timeout", id="half of the results"),
    pytest.param("results", 3, "lost_timeout", id="the last results"),
    pytest.param("submit", 5, "lost_timeout", id="a later wave"),
]


def started(run: ServedNight) -> "subprocess.Popen[bytes]":
    """A process with a session of the run."""
    return ends_with_the_test(
        subprocess.Popen(
            [sys.executable, str(SESSION), run.night.url, str(run.night.panel)],
            env={**os.environ, "PYTHONPATH": str(SESSION.parents[1])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    )


async def killed_at(run: ServedNight, call: str, number: int, fault: str) -> bool:
    """Run a session until a call is left without an answer, and kill it there; False: it ended before."""
    jobs = run.jobs
    jobs.left_hanging.clear()
    jobs.script.calls = {call: ("none",) * (jobs.calls[call] + number) + (fault,)}
    process = started(run)
    ended = asyncio.ensure_future(asyncio.to_thread(process.communicate))
    struck = asyncio.ensure_future(jobs.left_hanging.wait())
    await asyncio.wait({ended, struck}, return_when=asyncio.FIRST_COMPLETED)
    hit = struck.done()
    struck.cancel()
    if hit:
        process.send_signal(signal.SIGKILL)
    _, errors = await ended
    jobs.script.calls = {}
    assert hit or process.returncode == 0, errors.decode()[-2000:]
    return hit


async def ends_well(run: ServedNight) -> None:
    """The same command, once more, ends the run as if nothing had happened."""
    batched = await run.judged()
    live = verdicts(await run.night.live("day"))
    recorded = [one for one in run.night.read(exchanges) if one.via is not None]
    report = run.night.read(lambda store: verify(store, deep=True))
    answered = [body for batch in run.jobs.described() for body in batch["answered_bodies"]]

    assert sorted(live) == sorted(batched)
    assert 0 == run.answered_twice
    assert len(answered) == len(recorded)
    assert () == report.failures


@pytest.mark.full
@pytest.mark.parametrize(("call", "number", "fault"), POINTS)
async def test_killed_at_a_step_of_a_wave(
    tmp_path: Path, keys: pytest.MonkeyPatch, call: str, number: int, fault: str
) -> None:
    async with served(tmp_path, keys, BatchScript()) as run:
        assert await killed_at(run, call, number, fault)
        await ends_well(run)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
async def test_killed_ten_times_at_random(tmp_path: Path, keys: pytest.MonkeyPatch, seed: int) -> None:
    draws = random.Random(seed)
    async with served(tmp_path, keys, BatchScript()) as run:
        for _ in range(10):
            fault = draws.choice(["timeout", "lost_timeout"])
            if not await killed_at(run, draws.choice(CALLS), draws.randrange(3), fault):
                break
        await ends_well(run)
