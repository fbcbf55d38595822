"""The Python API: cases judged one by one and many at once, stopped, resumed, streamed, read."""

import asyncio
import json
import logging
import multiprocessing
import os
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jury_actors import Broken
from jury_cases import CaseFileError
from jury_debate import PanelSpec, SeatSpec
from jury_events import JuryError, SettingError
from jury_judge import (
    Budget,
    Jury,
    JuryClosed,
    Observation,
    RuntimeSettings,
    RunUnfinished,
    Sources,
    Writing,
)
from jury_judge.records import reading
from jury_judge.store_access.stores import open_writer
from jury_migrations import upgrade
from jury_replay import verify
from jury_store import EventStore, SqliteLock, StoreLocked, StoreUnreachable, open_store
from support.refusals import RefusalTables
from support.runtime_harness import Meter, broken_promises
from support.waiting import comes

INDEPENDENT = {"panel": "independent"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jury.db'}"


def a_row(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {"id": f"c{number}", "question": f"Refund order {number}.", "response": "Refunded to 4242.", **fields}


def a_jury(url: str, **fields: Any) -> Jury:
    return Jury(**{"environ": {}, "store": url, **fields})


async def test_a_case_is_judged_to_the_end_recorded_replayed_and_rescored(url: str, meter: Meter) -> None:
    async with a_jury(url) as jury:
        result = await jury.evaluate(a_row(security_gate_records=({"verdict": "fail"},)))  # a tuple, as Python has it
        asked, reading = meter.served.total(), await jury.read(result.debate_id)
        replayed = await jury.replay(result.debate_id)
        rows = await jury.rescore(result.debate_id, settings={"method": ["median", "majority_vote"]}, mode="recount")

        assert verify(jury.store).ok
    assert ("completed", "c0", 1) == (result.status, result.case_id, reading.opened.security_gate_records)
    assert (None, "debate_completed") == (reading.opened.run_id, reading.events[-1].type)
    assert ("equal", asked) == (replayed.status, meter.served.total())
    assert ["method=median", "method=majority_vote"] == [row.setting for row in rows]  # type: ignore[union-attr]


async def test_any_number_of_cases_is_judged_at_once_within_the_bound(url: str, meter: Meter) -> None:
    meter.open.clear()
    async with a_jury(url, **INDEPENDENT, concurrency=4) as jury:
        tasks = [asyncio.create_task(jury.evaluate(a_row(number))) for number in range(12)]
        await comes(lambda: meter.running == 4 * 3)
        meter.open.set()
        results = await asyncio.gather(*tasks)

    assert [f"c{number}" for number in range(12)] == [result.case_id for result in results]
    assert (12, 12 * 3) == (len({result.debate_id for result in results}), len(meter.served))
    assert 4 * 3 == meter.most_running


async def test_the_same_case_of_the_same_run_is_asked_once_also_for_several_who_wait(url: str, meter: Meter) -> None:
    async with a_jury(url, **INDEPENDENT) as jury:
        results = await asyncio.gather(*(jury.evaluate(a_row(), run_id="r") for _ in range(3)))
        again = await jury.evaluate(a_row(), run_id="r")

    assert results == [again] * 3
    assert {1} == set(meter.served.values())


async def refused(asked: Awaitable[object]) -> str:
    try:
        await asked
    except JuryError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("it was not refused")


async def test_what_cannot_be_asked_of_a_jury_is_refused_before_a_call(
    url: str, meter: Meter, refusals: RefusalTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    keyless = PanelSpec(preset="independent", seats=(SeatSpec(model="openai/gpt-5.4-mini"),))
    median = {"method": "median"}
    rows: dict[str, Callable[[Jury], Awaitable[object]]] = {
        **{
            f"{name} {value!r}": partial(lambda ids, jury: jury.evaluate(a_row(), **ids), {name: value})
            for name, value in (
                ("run_id", "a run"),
                ("run_id", ".."),
                ("debate_id", "../x"),
                ("debate_id", "."),
                ("submission_id", "two\nlines"),
            )
        },
        "another case under the same id": lambda jury: jury.evaluate(a_row(response="Never."), run_id="r"),
        "no concurrency": lambda jury: anext(jury.evaluate_many([a_row()], concurrency=-1)),
        **{
            f"cases that are {one!r}": partial(lambda cases, jury: anext(jury.evaluate_many(cases)), one)
            for one in ({}, None, 5)
        },
        "a callback that is a number": lambda jury: jury.evaluate(a_row(), on_event=5),  # type: ignore[arg-type]
        "a callback of many that is a number": lambda jury: anext(jury.evaluate_many([a_row()], on_event=5)),  # type: ignore[arg-type]
        "reading a half of a character": lambda jury: jury.read("a\ud800"),
        "a result of a NUL": lambda jury: jury.result("a\0"),
        "replaying a half of a character": lambda jury: jury.replay("a\ud800"),
        "rescoring a half of a character": lambda jury: jury.rescore(["a\ud800"], settings=median),
        "following a half of a character": lambda jury: anext(jury.events("a\ud800")),
        "rescoring a debate that there is not": lambda jury: jury.rescore(debate_ids="nowhere", settings=median),
        "rescoring a run that there is not": lambda jury: jury.rescore(run_id="nowhere", settings=median),
        "rescoring in another mode": lambda jury: jury.rescore(settings=median, mode="loose"),  # type: ignore[arg-type]
        "rescoring with another setting": lambda jury: jury.rescore("r~c0", settings={"treshold": 1.0}),
        "a result that there is not": lambda jury: jury.result("nowhere"),
        "a row of another type": lambda jury: jury.evaluate({"question": "Refund.", "execution": object()}),
        "a case that is a text": lambda jury: jury.evaluate("refund"),  # type: ignore[arg-type]
        "a case twice": lambda jury: anext(jury.evaluate_many([a_row(), a_row()])),
        "a case without a question": lambda jury: anext(jury.evaluate_many([{"response": "yes"}])),
        "a jury that is open": lambda jury: jury.__aenter__(),
    }
    async with a_jury(url, **INDEPENDENT) as jury:
        await jury.evaluate(a_row(), run_id="r")
        asked, events = meter.served.total(), jury.store.last_position()
        said = {name: await refused(row(jury)) for name, row in rows.items()}
    said["a jury that was left"] = await refused(jury.result("d"))
    said["a jury that was not entered"] = await refused(a_jury(url).evaluate(a_row()))
    async with a_jury(url) as other, a_jury(url, panel=keyless) as without:
        said["another panel over the same debate"] = await refused(other.evaluate(a_row(), run_id="r"))
        said["a missing key"] = await refused(without.evaluate(a_row()))
        said["a missing key for many"] = await refused(anext(without.evaluate_many([a_row()])))
        assert (asked, events) == (meter.served.total(), other.store.last_position())

    refusals.compare("jury", said)


NUMBERS: dict[str, Callable[[], object]] = {
    "no replicas": lambda: RuntimeSettings(replicas=0),
    "fewer than no calls": lambda: Budget(max_calls=-1),
    "a cost that is no number": lambda: Budget(max_cost=float("nan")),
    "no concurrency": lambda: Jury(concurrency=0),
    "a patience below zero": lambda: Jury(writing=Writing(patience=-1.0)),
}


def test_numbers_out_of_their_range_are_refused_at_once(refusals: RefusalTables) -> None:
    refusals.check("jury_numbers", NUMBERS, lambda row: row(), SettingError)


def test_a_jury_says_where_its_seats_are_one_model(url: str) -> None:
    said: list[str] = []
    seats = tuple(SeatSpec(model="openai/gpt-5.5", juror_id=name) for name in ("one", "two"))

    Jury(PanelSpec(seats=seats), store=url, environ={}, observation=Observation(say=said.append))

    assert 1 == sum(line.startswith("warning: all 2 seats are openai/gpt-5.5") for line in said)


async def test_a_row_may_name_any_path_and_a_case_file_those_of_its_folder_unless_folders_are_named(
    url: str, tmp_path: Path
) -> None:
    for folder in ("cases", "others", "none"):
        (tmp_path / folder).mkdir()
    gate = tmp_path / "others" / "gate.jsonl"
    gate.write_text('{"verdict": "fail"}\n')
    row = a_row(security_gate_uri=str(gate))
    cases = tmp_path / "cases" / "cases.jsonl"
    cases.write_text(json.dumps(row))

    async with a_jury(url, **INDEPENDENT) as jury:
        assert 1 == (await jury.read((await jury.evaluate(row)).debate_id)).opened.security_gate_records
        with pytest.raises(CaseFileError, match="is outside the folder"):
            [_ async for _ in jury.evaluate_many(cases)]
    async with a_jury(url, **INDEPENDENT, sources=Sources(artifact_roots=[tmp_path / "others"])) as jury:
        assert 1 == len([one async for one in jury.evaluate_many(cases)])
    async with a_jury(url, **INDEPENDENT, sources=Sources(artifact_roots=[tmp_path / "none"])) as jury:
        with pytest.raises(CaseFileError, match="is outside the folder"):
            await jury.evaluate(row)
        with pytest.raises(CaseFileError, match="is outside the folder"):
            [_ async for _ in jury.evaluate_many([row])]


async def test_a_run_that_was_left_resumes_where_it_stopped(url: str, meter: Meter) -> None:
    rows = [a_row(number) for number in range(6)]
    async with a_jury(url) as jury:
        lines = jury.evaluate_many(rows, run_id="r", concurrency=2)
        first = await anext(lines)
        await lines.aclose()
    async with a_jury(url) as jury:
        results = [one async for one in jury.evaluate_many(rows, run_id="r")]
        broken = [broken_promises(jury.store, f"r~c{n}", meter.served_of(f"r~c{n}")) for n in range(6)]

        assert verify(jury.store).ok
    assert first == results[0]
    assert [f"c{number}" for number in range(6)] == [result.case_id for result in results]
    assert [[]] * 6 == broken


async def test_a_task_that_is_cancelled_stops_its_debate_and_no_other(url: str, meter: Meter) -> None:
    meter.closed_for = lambda trace: trace.startswith(("d1/", "d2/"))
    async with a_jury(url) as jury:
        tasks = [asyncio.create_task(jury.evaluate(a_row(n), debate_id=f"d{n}")) for n in range(3)]
        await tasks[0]
        await comes(lambda: len(meter.served_of("d1")) == len(meter.served_of("d2")) == 3)
        tasks[1].cancel()
        await asyncio.gather(tasks[1], return_exceptions=True)
        meter.open_again()
        other = await tasks[2]
        rows = {row.debate_id: row.status for row in jury.store.debates()}
        resumed = await jury.evaluate(a_row(1), debate_id="d1")
        broken = broken_promises(jury.store, "d1", meter.served_of("d1"))

        assert verify(jury.store).ok
    assert {"d0": "completed", "d1": "evaluating", "d2": "completed"} == rows
    assert ("completed", "completed", []) == (other.status, resumed.status, broken)


async def test_whoever_waits_when_the_jury_is_left_gets_an_error_and_the_same_call_resumes(
    url: str, meter: Meter
) -> None:
    left = asyncio.Event()

    async def slow(_event: object) -> None:
        await left.wait()

    jury = a_jury(url, **INDEPENDENT)
    async with jury:
        heard = asyncio.create_task(jury.evaluate(a_row(), debate_id="heard", on_event=slow))
        await comes(lambda: (row := jury.store.debate("heard")) is not None and row.status == "completed")
        meter.open.clear()
        waiting = asyncio.create_task(jury.evaluate(a_row(1), debate_id="d"))
        following = asyncio.create_task(anext(jury.events("not-opened-yet")))
        await comes(lambda: jury.feed.readers == 2 and len(meter.served_of("d")) == 3)
    left.set()
    meter.open.set()
    async with asyncio.timeout(120):
        found = await asyncio.gather(heard, waiting, following, return_exceptions=True)
    async with jury:  # again, after it was left
        result = await jury.evaluate(a_row(1), debate_id="d")
        jury.store.close()
        for reading in (jury.read("d"), jury.result("d"), jury.replay("d"), jury.evaluate(a_row(1), debate_id="d")):
            with pytest.raises(JuryClosed, match="was left meanwhile"):
                await reading

    assert [JuryClosed] * 3 == [type(one) for one in found]
    assert "the same call resumes it" in str(found[1])
    assert "completed" == result.status


def test_a_forked_process_does_not_write_through_what_its_parent_opened(url: str) -> None:
    upgrade(url)
    store = open_writer(url, run="parent", wait=0)
    found, sent = multiprocessing.get_context("fork").Pipe(duplex=False)

    def child() -> None:
        try:
            open_writer(url, run="child", wait=0)
        except StoreLocked as error:
            sent.send(str(error))
        else:
            sent.send("it writes too")

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    said = found.recv()
    process.join()
    store.close()

    assert f"is being written by process {os.getpid()}" in said


async def test_a_store_that_another_process_writes_is_read_and_not_written(url: str, tmp_path: Path) -> None:
    async with a_jury(url, **INDEPENDENT) as jury:
        before = await jury.evaluate(a_row())
    lock = SqliteLock.acquire(tmp_path / "jury.db", run="elsewhere", wait=0)
    try:
        async with a_jury(url, **INDEPENDENT) as jury:
            read = await jury.result(before.debate_id)
            with pytest.raises(StoreLocked, match=f"process {os.getpid()}, run elsewhere"):
                await jury.evaluate(a_row(1))
            lock.release()
            after = await jury.evaluate(a_row(2))
    finally:
        lock.release()

    assert before == read
    assert "completed" == after.status


async def test_each_callback_hears_every_event_of_its_debate_once_in_order(url: str) -> None:
    received: dict[int, list[dict[str, Any]]] = {0: [], 1: []}

    async def hear(number: int, event: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        received[number].append(event)

    async with a_jury(url) as jury:
        calls = (jury.evaluate(a_row(n), on_event=partial(hear, n), submission_id=f"abc{n}") for n in received)
        results = await asyncio.gather(*calls)
        sent = [[one async for one in jury.events(result.debate_id, follow=False)] for result in results]
        rest = [one async for one in jury.events(results[0].debate_id, after=sent[0][4].id)]

    assert sent[0][5:] == rest
    for number, result in enumerate(results):
        chunks = [one["chunk"] for one in received[number] if one["type"] == "final_judge_chunk"]
        end = {"type": "evaluation_completed", "verdict": result.final_verdict, "score": result.final_score}
        assert [one.event for one in sent[number]] == [
            one for one in received[number] if one["type"] != "final_judge_chunk"
        ]
        assert {f"abc{number}"} == {one["submissionId"] for one in received[number] if one["type"] == "juror_statement"}
        assert end == received[number][-1]
        assert "verdict" in json.loads("".join(chunks))


async def test_a_callback_that_fails_is_logged_once_and_harms_nothing(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_event: object) -> None:
        raise RuntimeError("the page is gone")

    with caplog.at_level(logging.ERROR):
        async with a_jury(url) as jury:
            result = await jury.evaluate(a_row(), on_event=fail)

    assert "completed" == result.status
    assert [f"debate {result.debate_id}: the callback failed at phase_change"] == caplog.messages


async def test_what_could_not_go_on_of_a_run_is_raised_after_the_other_results(url: str, meter: Meter) -> None:
    meter.breaks = lambda trace: trace.startswith("r~c1/")
    async with a_jury(url, **INDEPENDENT) as jury:
        heard: set[str] = set()
        sent = jury.evaluate_many(
            [a_row(n) for n in range(3)], run_id="r", on_event=lambda debate, _event: heard.add(debate)
        )
        results = [await anext(sent), await anext(sent)]
        with pytest.raises(RunUnfinished, match="1 of the 3 debates of run r could not go on") as caught:
            await anext(sent)
        with pytest.raises(Broken):
            await jury.evaluate(a_row(1), debate_id="r~c1", run_id="r")

    assert ["c0", "c2"] == [result.case_id for result in results]
    assert {"r~c0", "r~c2"} <= heard
    assert ["r~c1"] == list(caught.value.problems)


async def test_what_a_jury_may_spend_is_bounded(url: str, meter: Meter) -> None:
    async with a_jury(url, **INDEPENDENT, budget=Budget(max_calls=3)) as jury:
        await jury.evaluate(a_row(0))
        with pytest.raises(Exception, match="budget"):
            await jury.evaluate(a_row(1))

    assert 3 == len(meter.served)


def test_the_store_is_let_go_when_the_loop_ends(url: str, tmp_path: Path) -> None:
    async def work() -> str:
        async with a_jury(url, **INDEPENDENT) as jury:
            return (await jury.evaluate(a_row())).debate_id

    found = [asyncio.run(work()) for _ in range(2)]
    store = open_store(url, write=True, wait=0)
    kept = {row.debate_id for row in store.debates()}
    store.close()

    assert set(found) == kept


class Lock:
    """Stands for that of a run on PostgreSQL; taking it takes until it is `free`."""

    def __init__(self) -> None:
        self.asked, self.free, self.released = threading.Event(), threading.Event(), threading.Event()

    def acquire(self, *_: object, **__: object) -> "Lock":
        self.asked.set()
        self.free.wait(60)
        return self

    def release(self) -> None:
        self.released.set()


async def test_a_run_that_is_cancelled_while_it_is_locked_releases_the_lock(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Lock()
    monkeypatch.setattr("jury_judge.store_access.stores.RunLock", lock)
    async with Jury("independent", store=url, environ={}) as jury:
        first = asyncio.ensure_future(anext(jury.evaluate_many([], run_id="r")))
        await asyncio.to_thread(lock.asked.wait, 60)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        lock.free.set()

        assert await asyncio.to_thread(lock.released.wait, 10)


async def test_a_result_is_read_again_where_the_store_is_away_for_a_moment(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, away = reading._result, {"r~a", "r~b"}

    def result(store: EventStore, debate_id: str) -> Any:
        if debate_id in away:
            away.remove(debate_id)
            raise StoreUnreachable("the server closed the connection")
        return read(store, debate_id)

    monkeypatch.setattr(reading, "_result", result)
    rows = [{"case_id": name, "question": "Open?", "response": "At nine."} for name in ("a", "b")]
    async with Jury("independent", store=sqlite_url) as jury:
        many = [one.case_id async for one in jury.evaluate_many(rows[:1], run_id="r")]
        one = await jury.evaluate(rows[1], run_id="r")

    assert ["a", "b"] == [*many, one.case_id]
