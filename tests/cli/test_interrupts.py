"""What the event loop of a command does at the first, the second and the third signal."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

import jury_judge
from jury_cli import event_loops
from jury_cli.event_loops import event_loop, run_interruptibly, until_interrupted


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in event_loops.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_after_the_first_signal_it_says_again_and_again_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    asked = 0
    enough = asyncio.Event()

    async def work(stopping: asyncio.Event) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        await stopping.wait()
        await enough.wait()
        return "finished"

    async def waits_for() -> str:
        nonlocal asked
        asked += 1
        if asked == 2:
            enough.set()
        return f"{3 - asked} calls"

    with event_loop() as loop:
        found = loop.run(until_interrupted(work, says="stopping", waits_for=waits_for, every=0))

    assert ("finished", True) == found
    assert [
        "stopping",
        "jury: waiting for 2 calls; Ctrl-C again stops at once",
        "jury: waiting for 1 calls; Ctrl-C again stops at once",
    ] == capsys.readouterr().err.splitlines()[:3]


def test_without_a_signal_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    async def work(_stopping: asyncio.Event) -> int:
        await asyncio.sleep(0)
        return 1

    async def waits_for() -> str:
        raise AssertionError

    with event_loop() as loop:
        found = loop.run(until_interrupted(work, waits_for=waits_for, every=0))

    assert (1, False) == found
    assert capsys.readouterr().err == ""


def test_the_second_signal_cancels_and_the_third_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()
    seen = []
    # Not called for real: this process may have started the Ray cluster that other tests use.
    monkeypatch.setattr(jury_judge, "end_own_processes", lambda: seen.append("cluster ended"))
    monkeypatch.setattr(event_loops, "exit_at_once", ended.set)

    async def work(stopping: asyncio.Event) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await stopping.wait()
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            os.kill(os.getpid(), signal.SIGINT)
            await ended.wait()
            seen.append("ended")
            raise

    with event_loop() as loop:
        found = loop.run(until_interrupted(work))

    assert (None, True) == found
    assert ["cancelled", "cluster ended", "ended"] == seen


def test_a_signal_in_the_last_step_of_the_work_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    async def work(_stopping: asyncio.Event) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "finished"

    with event_loop() as loop:
        found = loop.run(until_interrupted(work, says="finishing what runs"))

    assert ("finished", True) == found
    assert capsys.readouterr().err == ""


def test_a_command_whose_last_step_is_interrupted_is_interrupted() -> None:
    async def work() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "finished"

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(work)


def test_a_signal_that_is_ignored_stays_ignored_while_work_runs() -> None:
    async def work(_stopping: asyncio.Event) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0)
        return "finished"

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with event_loop() as loop:
        found = loop.run(until_interrupted(work))

    assert ("finished", False) == found
