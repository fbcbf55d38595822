"""A runtime on Ray: the same debates as in one process, whichever process is killed."""

import asyncio
import os
import signal
import socket
import sqlite3
import threading
from pathlib import Path

import pytest

from jury_actors import ClusterLost, ClusterUnreachable, Finished, place_of, ray_runtime
from jury_judge import Jury, RuntimeSettings
from jury_providers import NO_FAULTS, Script
from jury_replay import verify
from jury_store import EventStore, Sealer, SealKey, StoreFailed, StoreMissing
from support.counted_script import CountedScript, served
from support.processes import actor_process
from support.runtime_harness import (
    TWO_SEATS,
    KeptStore,
    Run,
    a_case_with_records,
    broken_promises,
    completed,
    resume_in_process,
)
from support.tiers import others_full
from support.waiting import comes

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]


async def execute_on_ray(run: Run, url: str, script: Script = NO_FAULTS) -> dict[str, Finished]:
    async with ray_runtime.ray_runtime(run.plan(script, url=url)) as runtime:
        return await run.execute_in(runtime)


async def test_debates_on_ray_equal_those_in_one_process(sqlite_url: str, reader: EventStore) -> None:
    here = Run(KeptStore(), debates=20, case=a_case_with_records)
    there = Run(reader, debates=20, case=a_case_with_records)
    await here.execute()
    found = await execute_on_ray(there, sqlite_url)

    assert completed(found.values())
    assert verify(reader).ok
    assert [here.event_ids(debate) for debate in here.cases] == [there.event_ids(debate) for debate in there.cases]
    assert [verdict(here, debate) for debate in here.cases] == [verdict(there, debate) for debate in there.cases]


@pytest.mark.full
async def test_a_seal_of_the_driver_is_kept_by_the_clerk_of_the_cluster(sqlite_url: str, reader: EventStore) -> None:
    run = Run(reader, debates=2, **TWO_SEATS)
    sealer = Sealer(reader, SealKey("example.com/jury", bytes(32)), lambda: 1)
    async with ray_runtime.ray_runtime(run.plan(url=sqlite_url)) as runtime:
        await run.execute_in(runtime)
        made = sealer.next()
        assert made is not None
        kept = [await runtime.clerk.store_seal(made), await runtime.clerk.store_seal(made)]

    assert kept == [True, False]
    assert [made] == reader.seals()
    assert made.tree_size == reader.last_position()


def verdict(run: Run, debate_id: str) -> bytes:
    """The body of the debate's last event: verdict, score, rounds and how it ended; it contains no text."""
    return run.event_bodies(debate_id)[-1][1]


def resumed(run: Run) -> list[str]:
    """The debates with a takeover event."""
    return [debate for debate in run.cases if any("resumed/" in one for one in run.event_ids(debate))]


@pytest.mark.parametrize("killed", others_full("CoordinatorActor", "JurorActor", "ClerkActor"))
async def test_debates_survive_the_kill_of_any_process(
    sqlite_url: str, reader: EventStore, tmp_path: Path, killed: str
) -> None:
    here = Run(KeptStore(), debates=8, case=a_case_with_records, **TWO_SEATS)
    await here.execute()
    run = Run(reader, debates=8, case=a_case_with_records, **TWO_SEATS)
    script = CountedScript(latency=0.15, seed=3, calls=str(tmp_path / "calls"))
    running = asyncio.create_task(execute_on_ray(run, sqlite_url, script))
    await comes(lambda: reader.last_position() >= 40 or running.done())
    os.kill(actor_process(killed), signal.SIGKILL)
    found = await running
    counts = served(tmp_path / "calls")

    assert completed(found.values())
    assert verify(reader).ok
    assert [verdict(here, debate) for debate in here.cases] == [verdict(run, debate) for debate in run.cases]
    assert not [broken for debate in run.cases for broken in broken_promises(reader, debate, counts[debate])]
    assert killed == "ClerkActor" or resumed(run)


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
    held = tmp_path / "held"
    held.touch()
    script = CountedScript(latency=0.15, seed=3, calls=str(tmp_path / "calls"), held=str(held))
    said: list[str] = []
    async with ray_runtime.ray_runtime(run.plan(script, url=sqlite_url, coordinators=2), say=said.append) as runtime:
        running = asyncio.create_task(run.execute_in(runtime))
        await comes(lambda: running.done() or all(open_debates(run, place) >= 3 for place in (0, 1)))
        os.kill(actor_process("CoordinatorActor"), signal.SIGKILL)
        held.unlink()
        found = await running
    counts = served(tmp_path / "calls")

    assert completed(found.values())
    assert verify(reader).ok
    assert [verdict(here, debate) for debate in here.cases] == [verdict(run, debate) for debate in run.cases]
    assert not [broken for debate in run.cases for broken in broken_promises(reader, debate, counts[debate])]
    assert {0, 1} == {place_of(debate, 2) for debate in run.cases}
    assert 1 == len({place_of(debate, 2) for debate in resumed(run)})
    assert ["a coordinator's process was lost; another takes its place and goes on with its debates"] == said


@pytest.mark.full
@pytest.mark.kill
@pytest.mark.long
@pytest.mark.timeout(300)
async def test_a_juror_that_dies_of_every_call_ends_the_run_and_does_not_flood_the_log(
    sqlite_url: str, reader: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_actors.ray_watch.MOST_DEATHS", 3)
    run = Run(reader, seats=[{"model": "simulated/juror", "juror_id": "one"}])
    event_bodies: list[str] = []
    script = CountedScript(calls=str(tmp_path / "deaths"), kills=True)
    async with ray_runtime.ray_runtime(run.plan(script, url=sqlite_url), say=event_bodies.append) as runtime:
        with pytest.raises(ClusterLost, match="the process of juror one died 3 times"):
            await run.execute_in(runtime, seconds=240)

    assert 2 == len([line for line in event_bodies if line.startswith("the process of juror one was lost; ")])
    deaths = len((tmp_path / "deaths").read_text().splitlines())
    assert len([one for one in run.event_ids("d0") if "resumed/" in one]) <= deaths


async def test_cases_are_judged_with_callbacks_cancelled_and_resumed_on_ray(sqlite_url: str) -> None:
    events: list[str] = []
    row = {"question": "Refund order 17.", "response": "Refunded."}
    async with Jury("independent", store=sqlite_url, runtime=RuntimeSettings(ray=True), environ={}) as jury:
        one, other = await asyncio.gather(
            jury.evaluate(row, on_event=lambda event: events.append(event["type"])), jury.evaluate(row, run_id="r")
        )
        left = asyncio.create_task(jury.evaluate(row, debate_id="left"))
        await anext(jury.events("left"))
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        again = await jury.evaluate(row, debate_id="left")

        assert verify(jury.store).ok
    assert ["completed"] * 3 == [one.status, other.status, again.status]
    assert "evaluation_completed" == events[-1]


@pytest.mark.full
async def test_a_store_that_fails_is_reported_in_a_line_and_the_run_can_be_resumed(
    sqlite_url: str, reader: EventStore
) -> None:
    run = Run(reader, debates=3, **TWO_SEATS)
    database = sqlite_url.removeprefix("sqlite:///")
    with sqlite3.connect(database) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.event_id LIKE 'round-1%' "
            "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    connection.close()
    stopped = await execute_on_ray(run, sqlite_url)
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER full")
    connection.close()
    found = await resume_in_process(run, sqlite_url)

    assert [("unfinished", StoreFailed)] * 3 == [(one.status, type(one.problem)) for one in stopped.values()]
    assert not [one for one in stopped.values() if "\n" in str(one.problem)]
    assert completed(found.values())


@pytest.mark.full
async def test_a_store_that_is_not_there_surfaces_as_itself(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'nothing.db'}"
    with pytest.raises(StoreMissing) as raised:
        await execute_on_ray(Run(KeptStore(), **TWO_SEATS), url)

    assert StoreMissing is raised.type
    assert "\n" not in str(raised.value)


def test_an_address_without_a_server_is_refused_before_ray_tries_to_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would try for a minute."""
    joined: list[object] = []
    monkeypatch.setattr("jury_actors.ray_runtime.ray.is_initialized", lambda: False)
    monkeypatch.setattr("jury_actors.ray_runtime.ray.init", lambda *_, **given: joined.append(given))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ClusterUnreachable, match=str(port)):
        ray_runtime.start_ray(f"127.0.0.1:{port}")

    assert [] == joined


def test_an_address_of_another_server_is_distinguished_from_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_actors.ray_runtime.ray.is_initialized", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ClusterUnreachable, match="another server than Ray"):
            ray_runtime.start_ray(f"127.0.0.1:{port}")
        thread.join()


def test_an_address_without_a_port_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_actors.ray_runtime.ray.is_initialized", lambda: False)
    with pytest.raises(ClusterUnreachable, match="ray start --head"):
        ray_runtime.start_ray("nowhere")
