"""A long run is streamed: what is held, read and decoded is bounded by the debates at once, not by their number."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_cases.case_inputs import case_source
from jury_cases.errors import CaseFileError
from jury_cli.results import Results
from jury_events.case import Case
from jury_events.envelope import StoredEvent
from jury_judge.errors import RunRefused
from jury_judge.runs.preflight import PreflightReport, preflight
from jury_judge.runs.run import Run
from jury_judge.runs.run_execution import execute_run
from jury_judge.runs.run_lines import Line
from jury_judge.runs.run_progress import NoListener
from jury_store.debate_rows import CaseRow
from jury_store.memory import MemoryEventStore
from support.debate_harness import a_case
from support.runtime_harness import a_resolved

MANY = 200


class CountingStore(MemoryEventStore):
    """Counts the streams that are read, and the debates that are looked up at once."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.looked_up: list[int] = []

    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        self.read += streams
        return super().read_streams(streams)

    def cases_of(self, debate_ids: Collection[str]) -> dict[str, CaseRow]:
        self.looked_up.append(len(debate_ids))
        return super().cases_of(debate_ids)

    def close(self) -> None:
        """Stays open: a runtime closes its store."""


class Source:
    """Cases made as they are read; `furthest` is the most that any reader has read."""

    def __init__(self, count: int = MANY, changed: int | None = None) -> None:
        self.count = count
        self.changed = changed
        self.furthest = 0

    def __call__(self, _fetch: Callable[[Case], bool]) -> Iterator[Case]:
        for number in range(self.count):
            self.furthest = max(self.furthest, number + 1)
            yield a_case(f"c{number}", scenarios=2 if number == self.changed else 1)


def a_run(source: Callable[..., Iterable[Case]], concurrency: int = 4) -> Run:
    return Run(run_id="r1", resolved=a_resolved(), cases=source, concurrency=concurrency)


def executed(run: Run, store: CountingStore, checked: PreflightReport, opened: list[str]) -> AsyncIterator[Line]:
    @asynccontextmanager
    async def runtime() -> AsyncIterator[Runtime]:
        opened.append(run.run_id)
        config = RuntimeConfig(run.resolved.panel, "", run.run_id)
        async with in_process_runtime(config, lambda: store) as found:
            yield found

    return execute_run(run, checked, store, runtime, progress=NoListener(), stopping=asyncio.Event(), problems=[])


async def judged(count: int) -> CountingStore:
    """A store with a finished run of so many debates."""
    store, run = CountingStore(), a_run(Source(count), 16)
    assert count == len([line async for line in executed(run, store, preflight(run, store, seconds=None), [])])
    store.read.clear()
    store.looked_up.clear()
    return store


async def test_a_preflight_reads_the_opening_of_one_debate_and_looks_the_others_up_in_the_index() -> None:
    store = await judged(40)

    checked = preflight(a_run(Source(40)), store, seconds=None)

    assert (40, 40, False, 0) == (checked.total, checked.ended, checked.left, checked.expected)
    assert ["debate/r1~c0"] == store.read
    assert 40 == sum(store.looked_up)
    assert max(store.looked_up) < 10


async def test_the_first_line_of_a_finished_run_comes_before_the_last_case_is_read_and_no_actor_is_set_up() -> None:
    store, source, opened = await judged(MANY), Source(), []
    run = a_run(source)
    checked = preflight(run, store, seconds=0.0)
    lines = executed(run, store, checked, opened)

    first = await anext(lines)
    read_then = len(set(store.read))
    rest = [line["case_id"] async for line in lines]

    assert (None, True, 0) == (checked.total, checked.left, checked.expected)
    assert "c0" == first["case_id"]
    assert read_then < MANY / 2
    assert [f"c{number}" for number in range(1, MANY)] == rest
    assert [] == opened


async def test_cases_are_not_held_however_many_a_run_has() -> None:
    store = await judged(MANY)
    most = 0
    with later_objects() as held:
        run = a_run(Source())
        async for _ in executed(run, store, preflight(run, store, seconds=0.0), []):
            most = max(most, sum(isinstance(one, Case) for one in held()))

    assert 0 < most < MANY / 4


@contextmanager
def later_objects() -> Iterator[Callable[[], list[object]]]:
    """Lists the objects in use that were made within the context, without a look at those of earlier tests."""

    def held() -> list[object]:
        gc.collect()
        return gc.get_objects()

    gc.freeze()
    try:
        yield held
    finally:
        gc.unfreeze()


async def test_a_changed_case_of_a_finished_run_is_refused_before_its_line_and_after_those_before_it() -> None:
    store = await judged(60)
    run = a_run(Source(60, changed=50))
    lines = executed(run, store, preflight(run, store, seconds=0.0), [])

    given: list[str] = []
    with pytest.raises(RunRefused, match="judged another case under the id 'c50'"):
        await _into(given, lines)

    assert [f"c{number}" for number in range(50)] == given


async def _into(given: list[str], lines: AsyncIterator[Line]) -> None:
    async for line in lines:
        given.append(line["case_id"])  # noqa: PERF401  (those before the error count)


async def test_a_half_done_run_judges_the_rest_and_gives_every_line_in_order() -> None:
    store, opened = await judged(30), []
    run = a_run(Source(60))
    lines = [line["case_id"] async for line in executed(run, store, preflight(run, store, seconds=0.0), opened)]

    assert ([f"c{number}" for number in range(60)], ["r1"]) == (lines, opened)
    assert (60, 60) == (store.run("r1").cases, store.run("r1").ended)


def test_an_iterator_of_cases_is_read_once_as_far_as_it_is_needed() -> None:
    drawn: list[int] = []

    def cases() -> Iterator[Case]:
        for number in range(5):
            drawn.append(number)
            yield a_case(f"c{number}")

    source = case_source(cases(), frozenset())
    one, other = iter(source(lambda _case: False)), iter(source(lambda _case: False))

    assert ["c0", "c1"] == [next(one).case_id, next(one).case_id]
    assert [0, 1] == drawn
    assert [f"c{number}" for number in range(5)] == [case.case_id for case in other]
    assert ["c2", "c3", "c4"] == [case.case_id for case in one]
    assert [0, 1, 2, 3, 4] == drawn


def test_a_fault_of_an_iterator_is_raised_to_each_of_its_readers_after_the_cases_before_it() -> None:
    source = case_source(iter([a_case("a"), a_case("b"), a_case("a")]), frozenset())

    for _ in range(2):
        cases = iter(source(lambda _case: False))
        assert ["a", "b"] == [next(cases).case_id, next(cases).case_id]
        with pytest.raises(CaseFileError, match="case 3: its id 'a' is also the id of case 1"):
            next(cases)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_list_of_results_is_printed_as_it_grows_with_the_bytes_of_the_whole_list(
    count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    results, lines = Results("json"), [result(number) for number in range(count)]
    for line in lines:
        results.take(line)
        assert line["case_id"] in capsys.readouterr().out or count == 0
    results = Results("json")
    for line in lines:
        results.take(line)
    results.finish()

    assert json.dumps(lines, ensure_ascii=False, indent=2) + "\n" == capsys.readouterr().out


def test_a_list_of_results_is_ended_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with Results("json") as results:
            results.take(result(1))
            raise RunRefused("no")

    with pytest.raises(RunRefused):
        fail()

    assert [result(1)] == json.loads(capsys.readouterr().out)


def result(number: int) -> Line:
    return {
        "case_id": f"c{number}",
        "debate_id": f"r~c{number}",
        "status": "completed",
        "final_verdict": "safe_pass",
        "final_score": 90,
        "quorum_met": True,
        "capped_by": None,
        "label": None,
        "votes": {"a": "safe_pass\nthe second line"},
        "vote_labels": None,
        "final_label": None,
        "vote_kinds": {},
        "model_mismatches": [],
        "method": "majority_vote",
        "decided_by": "majority_vote",
        "simulated": False,
    }
