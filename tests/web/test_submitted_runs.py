"""What was submitted to a server ends, once: the log says what is left, and any server of the store goes on with it.

The servers are in one process, where files lock as between processes; that a process takes its locks with it when it
dies is in `tests/web/test_killed_servers.py` and `tests/chaos`.
"""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from jury_actors import Clerk
from jury_cases import case_of
from jury_events import run_facts
from jury_judge import Jury, OtherCase, RunRefused, RuntimeSettings, Service, cancel_run
from jury_providers import NO_FAULTS, KeyMissing, Script
from jury_store import EventStore, StoreFailed, open_store
from support.debate_harness import a_case
from support.ladders import ladder_file
from support.waiting import comes

pytestmark = pytest.mark.full_for("postgresql")

CASES = (a_case("one"), a_case("two"))
OTHER = a_case("one", scenarios=2)
NEVER = Script(latency=3600.0)
LEAK = "Order 1 is refunded without asking."


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / "private"))
    found: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return found


@asynccontextmanager
async def service(url: str, script: Script = NO_FAULTS, panel: str = "independent") -> AsyncIterator[Service]:
    """A server with one panel, which is called `usual`."""
    make = partial(Jury, panel, store=url, runtime=RuntimeSettings(simulate=script))
    found = Service(
        open_store(url, write=False),
        {"usual": lambda on_chunk: make(on_chunk=on_chunk)},
        store_url=url,
        database=Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None,
    )
    try:
        yield found
    finally:
        await found.close()


async def start(server: Service, run_id: str = "r1", cases: Any = CASES) -> str:
    return await server.submissions.run(cases, panel=None, run_id=run_id, concurrency=1)


async def evaluate(server: Service, run_id: str | None = "r1", case: Any = CASES[0]) -> str:
    return await server.submissions.evaluate(case, panel=None, run_id=run_id, submission_id="mine")


def state(of: Service, name: str = "r1", kind: Any = "run") -> tuple[str | None, bool]:
    """The state of a submission, and whether a process elsewhere is named."""
    found = of.submission_states.read(kind, name)
    return (None, False) if found is None else (found.state, found.process is not None)


async def idle(server: Service) -> None:
    """Until the server executes nothing."""
    await comes(lambda: not server.submissions.running)


def statuses(store: EventStore) -> dict[str, str]:
    return {row.debate_id: row.status for row in store.debates(waiting=None)}


async def test_the_next_server_goes_on_with_a_run_and_an_evaluation(url: str) -> None:
    async with service(url, NEVER) as first:
        await start(first)
        lone = await evaluate(first, None)
        facts = run_facts(first.store.read_stream("run/r1"))
        before = [state(first), state(first, lone, "evaluation")]
    async with service(url) as second:
        begun = await second.submissions.look()
        await idle(second)
        rows, submission_id = statuses(second.store), second.store.history(lone).opened.submission_id
        after = [state(second), state(second, lone, "evaluation")]
    async with service(url) as third:
        again = await third.submissions.look()

    assert facts is not None
    assert facts.opened.submitted is not None
    assert (1, 2, True) == (facts.opened.submitted.concurrency, facts.listed, facts.complete)
    assert ([("running", False)] * 2, [("finished", False)] * 2) == (before, after)
    assert (2, 0) == (begun, again)
    assert {"r1~one": "completed", "r1~two": "completed", lone: "completed"} == rows
    assert "mine" == submission_id


async def test_a_server_goes_on_with_what_nobody_executes(url: str) -> None:
    async with service(url) as second:
        async with service(url, NEVER) as first:
            await start(first)
            await comes(lambda: state(second) == ("running", True))
            beside = await second.submissions.look()
        after = await second.submissions.look()
        await idle(second)

        assert (0, 1, ("finished", False)) == (beside, after, state(second))


async def test_the_same_request_to_a_second_server_is_acknowledged_and_another_case_is_refused(url: str) -> None:
    async with service(url) as second:
        async with service(url, NEVER) as first:
            await start(first)
            await comes(lambda: state(second) == ("running", True))
            same = await start(second)
            await idle(second)
            said = state(second)
            for asked in (start(second, cases=[OTHER]), evaluate(second, case=OTHER)):
                with pytest.raises(OtherCase, match="has another case under the id 'one'"):
                    await asked
        await second.submissions.look()
        await idle(second)

        assert ("r1", ("running", True), ("finished", False)) == (same, said, state(second))
        assert {"r1~one": "completed", "r1~two": "completed"} == statuses(second.store)


async def test_what_another_process_keeps_from_being_written_is_tried_again_when_it_has_ended(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with service(url, NEVER) as first:
        await start(first)
    if url.startswith("sqlite"):
        writer = open_store(url, write=True, run="nightly")
        end, reason = writer.close, "run nightly"
    else:
        end, reason = await asyncio.to_thread(_locked_by_another_process, url), "is being executed by"
    async with service(url) as second:
        for _ in range(2):
            await second.submissions.look()
            await idle(second)
        found = second.submission_states.read("run", "r1")
        end()
        await second.submissions.look()
        await idle(second)
        after = state(second)

    assert found is not None
    assert found.state in {"waiting", "running"}
    assert ("finished", False) == after
    assert caplog.text.count("run r1 waits, and is tried again by itself") <= 1
    assert reason in caplog.text or found.process is not None


def _locked_by_another_process(url: str) -> Callable[[], Any]:
    """Locks run r1 as another process does; returns what ends that process."""
    code = (
        "import sys; from jury_store.run_registry import RunLock; "
        "lock = RunLock.acquire(sys.argv[1], 'r1', wait=0); print('locked', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert b"locked\n" == process.stdout.readline()
    return process.communicate


async def test_a_cancelled_run_is_gone_on_with_by_the_same_request_alone(url: str) -> None:
    async with service(url, NEVER) as first:
        await start(first)
        await comes(first.store.debates)  # one began
    store = open_store(url, write=False)
    try:
        await cancel_run(store, url, "r1", "a person", logging.info)
    finally:
        store.close()
    async with service(url) as second:
        begun = await second.submissions.look()
        cancelled = (state(second), state(second, "r1~two", "evaluation"), statuses(second.store))
        await start(second)
        await idle(second)
        after = statuses(second.store)
        ended = state(second)

    assert 0 == begun
    assert (
        ("finished", False),
        ("stopped", False),
        {"r1~one": "cancelled", "r1~two": "waiting"},
    ) == cancelled
    assert ({"r1~one": "cancelled", "r1~two": "completed"}, ("finished", False)) == (after, ended)


@pytest.mark.full
async def test_a_run_that_a_server_executes_is_cancelled(url: str) -> None:
    async with service(url, Script(latency=3.0)) as server:  # calls in flight are waited for
        await start(server)
        await comes(server.store.debates)
        await cancel_run(server.store, url, "r1", "a person", logging.info)
        await idle(server)

        assert ("finished", False) == state(server)
        assert 0 == await server.submissions.look()


async def _without_key(*_: object, **__: object) -> None:
    raise KeyMissing("set OPENAI_API_KEY")


async def test_what_stopped_a_run_is_said_until_the_same_request_goes_on(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with service(sqlite_url) as server:
        with monkeypatch.context() as patch:
            patch.setattr(Jury, "judge_listed", _without_key)
            await start(server)
            await idle(server)
        stopped, again = state(server), await server.submissions.look()
        await start(server)
        await idle(server)

        assert (("stopped", False), 0, ("finished", False)) == (stopped, again, state(server))
    assert 1 == caplog.text.count("run r1 stopped, and waits in the store: set OPENAI_API_KEY")


async def test_a_store_that_fails_is_tried_again(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing = iter([True, True, False])
    judge = Jury.judge_listed

    async def sometimes(jury: Jury, *arguments: Any, **named: Any) -> None:
        if next(failing):
            raise StoreFailed("the disk is full; make room, then try again")
        await judge(jury, *arguments, **named)

    monkeypatch.setattr(Jury, "judge_listed", sometimes)
    async with service(sqlite_url) as server:
        await start(server)
        await idle(server)
        said = state(server)
        for _ in range(2):
            await server.submissions.look()
            await idle(server)

        assert (("waiting", False), ("finished", False)) == (said, state(server))
    assert 1 == caplog.text.count("run r1 waits, and is tried again by itself: the disk is full")


async def test_nothing_is_acknowledged_that_the_store_did_not_take(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_clerk: Clerk, appends: Any, *, atomic: bool) -> Any:
        assert atomic
        return [StoreFailed("the disk is full; make room, then try again") for _ in appends]

    async with service(sqlite_url) as server:
        with monkeypatch.context() as patch:
            patch.setattr(Clerk, "record", full)
            with pytest.raises(StoreFailed, match="the disk is full"):
                await start(server)
        before = (state(server), statuses(server.store))
        await start(server, cases=[OTHER])
        await idle(server)

        assert (((None, False), {}), {"r1~one": "completed"}) == (before, statuses(server.store))


async def test_a_run_whose_panel_is_not_served_stays_as_it_is(sqlite_url: str) -> None:
    async with service(sqlite_url, NEVER) as first:
        await evaluate(first)
    async with service(sqlite_url, panel="adk-sequential") as second:
        begun, said = await second.submissions.look(), state(second, "r1~one", "evaluation")

    assert (0, ("unfinished", False)) == (begun, said)


async def test_what_was_not_submitted_to_a_server_is_left_to_who_asked(sqlite_url: str) -> None:
    async with service(sqlite_url) as server:
        async with Jury("independent", store=sqlite_url, runtime=RuntimeSettings(simulate=NEVER)) as jury:
            results = jury.evaluate_many(CASES, run_id="r1")
            judging = asyncio.ensure_future(anext(results))
            await comes(server.store.debates)
            judging.cancel()
            await asyncio.gather(judging, return_exceptions=True)
        begun, said = await server.submissions.look(), state(server)
        with pytest.raises(RunRefused, match="without a server"):
            await evaluate(server, case=a_case("three"))

    assert (0, ("unfinished", False)) == (begun, said)


async def test_of_two_servers_that_list_other_cases_under_one_name_one_refuses(url: str) -> None:
    async with service(url) as first, service(url) as second:
        found = await asyncio.gather(start(first), start(second, cases=[OTHER, CASES[1]]), return_exceptions=True)
        await idle(first)
        await idle(second)

        assert ["OtherCase", "str"] == sorted(type(one).__name__ for one in found)
        assert {"r1~one": "completed", "r1~two": "completed"} == statuses(first.store)


async def test_more_submissions_than_run_at_once_are_begun_as_others_end(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.serving.service.MAX_RUNNING", 1)
    async with service(sqlite_url) as server:
        for number in range(3):
            await start(server, f"r{number}")
        others = 0
        while any(status == "waiting" for status in statuses(server.store).values()):
            await idle(server)
            others += await server.submissions.look()
        await idle(server)

        assert 0 == others
        assert {("finished", False)} == {state(server, f"r{number}") for number in range(3)}


async def test_a_ladder_that_a_server_left_between_two_stages_goes_on(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = str(ladder_file(tmp_path))
    leaking = case_of({"case_id": "late", "question": "Refund order 1.", "response": LEAK})
    async with service(sqlite_url, panel=ladder) as first:
        with monkeypatch.context() as patch:
            patch.setattr("jury_judge.runs.execution.open_stages", lambda *_: {})
            await evaluate(first, case=leaking)
            await idle(first)
        left = statuses(first.store)
    async with service(sqlite_url, panel=ladder) as second:
        begun = await second.submissions.look()
        await idle(second)
        after = statuses(second.store)

    assert ({"r1~late": "completed"}, 1) == (left, begun)
    assert {"r1~late": "completed", "r1~late~s2": "completed"} == after


async def test_a_panel_that_a_server_still_opens_when_it_ends_is_closed(sqlite_url: str) -> None:
    opens, goes_on = asyncio.Event(), asyncio.Event()
    left: list[str] = []

    class OpensSlowly(Jury):
        async def __aenter__(self) -> Self:
            opens.set()
            await goes_on.wait()
            return await super().__aenter__()

        async def _close(self) -> None:
            await super()._close()
            left.append("closed")

    server = Service(
        open_store(sqlite_url, write=False),
        {"usual": lambda on_chunk: OpensSlowly("independent", store=sqlite_url, on_chunk=on_chunk)},
        store_url=sqlite_url,
    )
    asking = asyncio.create_task(evaluate(server))
    await opens.wait()
    asking.cancel()
    closing = asyncio.create_task(server.close())
    goes_on.set()
    await closing

    assert ["closed"] == left


async def test_what_this_server_lists_is_not_begun_as_an_earlier_one_s(sqlite_url: str) -> None:
    begun: list[int] = []

    class LooksMeanwhile(Jury):
        async def list_cases(self, *args: Any, **kwargs: Any) -> Any:
            listed = await super().list_cases(*args, **kwargs)
            begun.append(await server.submissions.look())
            return listed

    make = partial(LooksMeanwhile, "independent", store=sqlite_url, runtime=RuntimeSettings(simulate=NEVER))
    server = Service(
        open_store(sqlite_url, write=False), {"usual": lambda on_chunk: make(on_chunk=on_chunk)}, store_url=sqlite_url
    )
    try:
        await evaluate(server)
        running = server.submissions.running
    finally:
        await server.close()

    assert ([0], 1) == (begun, running)
