"""A list that is cut off anywhere goes on: each case is listed once, and each debate is judged once."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import Engine
from sqlalchemy.event import listen, remove

from jury_cases import CaseFiles
from jury_events import run_facts, run_stream
from jury_judge import Erasure, Jury, Records, RunExecution, RunInput, RunUnfinished, load_panel, preflight
from jury_judge.runs import lister
from jury_judge.runs.run import RunProgress
from jury_replay import verify
from jury_store import Append, EventStore, SqlEventStore, StoreError, StoreFailed, open_store
from support.command_line import CommandLine
from support.postgres import PostgresServer
from support.runtime_harness import Meter
from support.tiers import others_full
from support.waiting import until

pytestmark = pytest.mark.full_for("postgresql")

CASES = [{"case_id": f"c{n}", "question": "Refund order 17.", "response": f"Refunded ({n})."} for n in range(20)]
_OPTIONS = ("--run", "r", "--preset", "independent", "--jsonl", "--in-process")

# A process that dies in the transaction, or right after it, in which the list comes to a place.
KILLED = """
import os, signal, sys
from jury_cli.main import main
from jury_store.sql_store import SqlEventStore

append, place, committed = SqlEventStore.append, int(sys.argv[1]), sys.argv[2] == "after"
sys.argv[1:] = sys.argv[3:]

def cut_off(self, requests, **given):
    events = [event for one in requests for event in one.events]
    cut_off.opened += sum(event.type == "debate_opened" for event in events)
    if cut_off.opened >= place and not committed:
        os.kill(os.getpid(), signal.SIGKILL)
    answers = append(self, requests, **given)
    if cut_off.opened >= place:
        os.kill(os.getpid(), signal.SIGKILL)
    return answers

cut_off.opened = 0
SqlEventStore.append = cut_off
main()
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    jury = CommandLine(tmp_path_factory.mktemp("undisturbed"))
    outcome = jury("run", jury.write("cases.jsonl", *CASES), *_OPTIONS)

    assert 0 == outcome.code, outcome.err
    return outcome.lines


@pytest.fixture
def few_ahead() -> Iterator[None]:
    """The list goes on while debates are judged: four are ahead at most, two a page."""
    with patch.object(lister, "MOST_AHEAD", 4), patch.object(lister, "_MOST_OF_PAGE", 2):
        yield


class CutOff:
    """An `append` that fails where the list comes to a place: in the transaction, or after it was made."""

    def __init__(self, place: int, *, committed: bool) -> None:
        self._place, self._committed = place, committed
        self._opened = 0
        self._append: Callable[..., Any] = SqlEventStore.append

    def __call__(self, store: EventStore, requests: list[Append], **given: Any) -> Any:
        opened = sum(event.type == "debate_opened" for one in requests for event in one.events)
        self._opened += opened
        cut = bool(opened) and self._opened >= self._place
        answers = self._append(store, requests, **given) if self._committed or not cut else None
        if cut:
            raise StoreFailed("the connection was lost")
        return answers

    def patched(self) -> Any:
        """Every store, as long as the context lasts."""
        return patch.object(SqlEventStore, "append", lambda *given, **named: self(*given, **named))  # noqa: PLW0108  (bound as a method)


def _listed(url: str) -> int:
    with closing(open_store(url, write=False)) as store:
        facts = run_facts(store.read_stream(run_stream("r")))
    return 0 if facts is None else facts.listed


def _comes_to_the_same_end(jury: CommandLine, url: str, undisturbed: list[dict[str, Any]]) -> None:
    """What is listed is judged without the file; with it the rest: the lines of an undisturbed run, no call twice."""
    listed = _listed(url)
    cases = jury.folder / "cases.jsonl"
    content = cases.read_bytes()
    cases.unlink()
    resumed = jury("resume", "r", "--jsonl", "--in-process", "--store", url)
    cases.write_bytes(content)
    whole = jury("run", "cases.jsonl", *_OPTIONS, "--store", url)

    assert undisturbed[:listed] == (resumed.lines if listed else []), resumed.err
    assert listed or "there is no run 'r' in this store" in resumed.err
    assert (0, undisturbed) == (whole.code, whole.lines), whole.err
    checked = jury("verify", "--all", "--deep", "--json", "--store", url).json
    assert checked["ok"], checked["failures"]
    assert [(20, 20, 0)] == [tuple(run[name] for name in ("listed", "ended", "beside")) for run in checked["runs"]]
    with closing(open_store(url, write=False)) as store:
        calls = [one for one in store.read_all(limit=10_000) if one.type == "exchange_recorded"]
    assert {1} == set(Counter((one.stream, one.event_id) for one in calls).values())


@pytest.mark.parametrize(
    ("place", "committed"),
    others_full((8, False), *((place, committed) for place in range(2, 22, 2) for committed in (False, True))),
)
def test_a_list_that_is_cut_off_between_openings_and_their_page_or_after_it_goes_on(
    tmp_path: Path, url: str, undisturbed: list[dict[str, Any]], place: int, *, committed: bool
) -> None:
    jury = CommandLine(tmp_path)
    with CutOff(place, committed=committed).patched():
        outcome = jury("run", jury.write("cases.jsonl", *CASES), *_OPTIONS, "--store", url, "--store-patience", "0")

    assert 0 != outcome.code
    assert "the connection was lost" in outcome.err
    _comes_to_the_same_end(jury, url, undisturbed)


@pytest.mark.full
@pytest.mark.kill
def test_a_run_that_is_killed_at_every_tenth_of_its_list_comes_to_the_same_end(
    tmp_path: Path, url: str, undisturbed: list[dict[str, Any]]
) -> None:
    jury = CommandLine(tmp_path)
    cases = jury.write("cases.jsonl", *CASES)
    ends = []
    for place in range(2, 22, 2):
        when = "after" if place % 4 else "before"
        driver = [sys.executable, "-c", KILLED, str(place - _listed(url)), when]
        killed = subprocess.run(
            [*driver, "run", cases, *_OPTIONS, "--store", url], cwd=tmp_path, capture_output=True, check=False
        )
        ends.append(killed.returncode)

    assert -signal.SIGKILL in ends
    assert {-signal.SIGKILL, 0} >= set(ends)
    _comes_to_the_same_end(jury, url, undisturbed)


def _pages(url: str) -> int:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        return int(connection.execute("PRAGMA page_count").fetchone()[0])


def test_a_list_that_meets_a_full_disk_goes_on_once_there_is_room(
    tmp_path: Path, sqlite_url: str, undisturbed: list[dict[str, Any]], few_ahead: None
) -> None:
    jury, whole = CommandLine(tmp_path), f"sqlite:///{tmp_path}/whole.db"
    command = ("run", jury.write("cases.jsonl", *CASES), *_OPTIONS, "--list-only")
    empty = _pages(sqlite_url)
    assert 0 == jury(*command, "--store", whole).code
    room = empty + (_pages(whole) - empty) * 9 // 10

    def bounded(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {room}")

    listen(Engine, "connect", bounded)
    try:
        full = jury(*command, "--store", sqlite_url, "--store-patience", "0")
    finally:
        remove(Engine, "connect", bounded)

    assert 0 != full.code
    assert f"make room on the disk of {tmp_path}" in full.err
    assert 0 < _listed(sqlite_url) < 20
    _comes_to_the_same_end(jury, sqlite_url, undisturbed)


@pytest.fixture
def half(meter: Meter) -> Meter:
    """Calls about the cases from c6 on wait until they are let through."""
    meter.closed_for = lambda trace: int(trace.partition("/")[0].removeprefix("r~c")) >= 6
    return meter


def _jury(url: str) -> Jury:
    return Jury("independent", store=url, concurrency=2, environ={})


async def _judged(jury: Jury) -> list[Any]:
    return [result async for result in jury.evaluate_many(CASES, run_id="r")]


def _verified(url: str) -> dict[str, int]:
    """How much of the run is listed, has ended and is in no page; nothing is wrong."""
    with closing(open_store(url, write=False)) as store:
        report = verify(store, deep=True)
    assert report.ok, report.failures
    (run,) = report.runs
    return {"listed": run.listed, "ended": run.ended, "waiting": run.waiting, "beside": run.beside}


async def test_a_run_is_cancelled_while_it_lists_and_goes_on_when_it_is_called_again(
    url: str, few_ahead: None, half: Meter
) -> None:
    async with _jury(url) as jury, Records(url) as records:

        async def cancel() -> Any:
            await until(lambda: half.running == 2 * 3)
            cancelling = asyncio.create_task(records.cancel("r", by="ann"))
            await until(lambda: (row := records.store.run("r")) is not None and row.cancelled == 2)
            half.open_again()
            return await cancelling

        judging = asyncio.create_task(_judged(jury))
        done = await cancel()
        with pytest.raises(RunUnfinished) as unfinished:
            await judging
        stopped = await records.run_counts("r")
        again = await _judged(jury)
        after = await records.run_counts("r")

    assert ("ann", "ann", 2) == (unfinished.value.cancelled_by, done.by, done.debates)
    assert stopped is not None
    assert after is not None
    assert ("ann", None) == (stopped.cancelled_by, after.cancelled_by)
    assert 10 <= stopped.debates + stopped.waiting < 20
    assert (20, 0, 2) == (len(again), after.waiting, after.cancelled)
    assert {"listed": 20, "ended": 20, "waiting": 0, "beside": 0} == _verified(url)


async def test_a_case_that_is_erased_while_its_run_lists_stays_so_and_the_others_are_judged(
    url: str, few_ahead: None, half: Meter
) -> None:
    async with _jury(url) as jury, Records(url) as records:
        judging = asyncio.create_task(_judged(jury))
        await until(lambda: half.running == 2 * 3)
        waiting = records.store.debates(run_id="r", waiting=True)[-1]
        with suppress(StoreError):  # a reader of this process keeps the rows, without their texts
            await records.erase(Erasure.of(case_id=waiting.case_id, by="ann", reason="asked"))
        half.open_again()
        with suppress(RunUnfinished):  # the debate ended under its coordinator
            await judging
        again = await _judged(jury)
        row = records.store.debate(waiting.debate_id)

    assert row is not None
    assert ("failed", 20) == (row.status, len(again))
    assert {"listed": 20, "ended": 20, "waiting": 0, "beside": 0} == _verified(url)


async def test_debates_that_another_process_listed_and_began_meanwhile_are_listed_once(
    url: str, few_ahead: None
) -> None:
    digest = lister.page_digest
    pages: list[int] = []

    async def judged() -> int:
        async with _jury(url) as jury:
            return len(await _judged(jury))

    def late(first: int, openings: Any) -> str:
        pages.append(first)
        if len(pages) == 2:  # what is listed now was not opened when it was looked at
            assert asyncio.run(judged()) == 20
        return digest(first, openings)

    with patch.object(lister, "page_digest", late):
        results = await judged()

    assert 20 == results
    assert {"listed": 20, "ended": 20, "waiting": 0, "beside": 0} == _verified(url)


async def test_two_lists_of_one_run_at_once_have_each_case_once(tmp_path: Path, url: str, few_ahead: None) -> None:
    files = CommandLine(tmp_path)

    async with _jury(url) as jury:

        async def lists(cases: list[dict[str, str]]) -> int:
            source = CaseFiles([tmp_path / files.write(f"{cases[0]['case_id']}.jsonl", *cases)])
            run = RunInput(run_id="r", resolved=load_panel("independent", {}).resolved, cases=source, concurrency=2)
            checked = await asyncio.to_thread(preflight, run, jury.store)
            state = RunProgress(checked.total, checked.size)
            execution = RunExecution(run=run, checked=checked, store=jury.store, actors=jury._actors, state=state)
            async with aclosing(execution.lines()) as lines:
                found = len([line async for line in lines])
            assert not state.problems
            return found

        ends = await asyncio.gather(lists(CASES[:14]), lists(CASES[6:]))

    assert [14, 14] == ends
    assert {"listed": 20, "ended": 20, "waiting": 0, "beside": 0} == _verified(url)


@pytest.mark.full
def test_another_machine_goes_on_beside_the_same_database(
    tmp_path: Path, postgres_url: str, undisturbed: list[dict[str, Any]]
) -> None:
    jury, other = CommandLine(tmp_path), CommandLine(tmp_path / "other")
    other.folder.mkdir()
    jury.write("cases.jsonl", *CASES)
    driver = [sys.executable, "-c", KILLED, "20", "after", "run", "cases.jsonl", *_OPTIONS, "--store", postgres_url]
    killed = subprocess.run(driver, cwd=tmp_path, capture_output=True, check=False)
    resumed = other("resume", "r", "--jsonl", "--in-process", "--store", postgres_url)

    assert -signal.SIGKILL == killed.returncode
    assert undisturbed == resumed.lines, resumed.err


@pytest.mark.full
async def test_a_run_lists_and_judges_on_after_the_database_ended_every_connection(
    postgres: PostgresServer, postgres_url: str, few_ahead: None, half: Meter
) -> None:
    """As where another server of the database takes over."""
    name = postgres_url.split("@/")[1].partition("?")[0]
    async with _jury(postgres_url) as jury:
        judging = asyncio.create_task(_judged(jury))
        await until(lambda: half.running == 2 * 3)
        before = _listed(postgres_url)
        ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        await asyncio.to_thread(postgres.execute, ends)
        half.open_again()
        results = await judging

    assert 6 <= before < 20
    assert 20 == len(results)
    assert {"listed": 20, "ended": 20, "waiting": 0, "beside": 0} == _verified(postgres_url)
