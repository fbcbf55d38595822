"""A run that was begun under an earlier reading of its cases: what differs is named, the other cases go on."""

import asyncio
from typing import Any

import pytest

from jury_actors import Finished, RuntimeConfig, in_process_runtime
from jury_cases import read_case
from jury_events import Case, NewEvent, StoredEvent, calls_stream, debate_stream, without_provenance
from jury_judge import ReadOtherwise, Run, RunRefused, execute_run, preflight
from jury_judge.runs.preflight import is_over
from jury_store import Append, EventStore, MemoryEventStore
from support.runtime_harness import a_resolved

EARLIER = "I never delete anything."


class Silent:
    """Progress without a display."""

    def begin(self, total: int | None, stored: int) -> None: ...

    def total_known(self, total: int) -> None: ...

    def ended(self, finished: Finished) -> None: ...


def read(name: str, *, answered: bool = False) -> Case:
    messages = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": EARLIER},
        {"role": "user", "content": "Delete all my mail."},
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "delete_all", "arguments": "{}"}]},
    ]
    if answered:
        messages.append({"role": "assistant", "content": "Done."})
    return read_case({"case_id": name, "messages": messages}, default_id="x")


def read_earlier(name: str, *, answered: bool = False) -> Case:
    """As a version did that took the last words of the agent for its answer."""
    case = read(name, answered=answered)
    (scenario,) = case.scenarios
    execution = scenario.execution.changed(response="Done." if answered else EARLIER)
    return case.changed(reading=0, scenarios=(scenario.changed(execution=execution),))


def a_run(*cases: Case) -> Run:
    return Run(run_id="r1", resolved=a_resolved(), cases=lambda _fetch: iter(cases), concurrency=2)


async def executed(
    run: Run, store: EventStore, problems: list[Finished], *, seconds: float | None = None
) -> list[dict[str, Any]]:
    lines = execute_run(
        run,
        preflight(run, store, seconds=seconds),
        store,
        lambda: in_process_runtime(RuntimeConfig(run.resolved.panel, "", run.run_id), lambda: store),
        progress=Silent(),
        stopping=asyncio.Event(),
        problems=problems,
    )
    return [line async for line in lines]


async def begun_earlier(store: EventStore) -> None:
    await begun(store, read_earlier("over"), read_earlier("open"), read_earlier("same", answered=True))


async def begun(store: EventStore, *cases: Case) -> None:
    """The run's debates: `over` has ended, `open` and `same` have only been opened."""
    source = MemoryEventStore()
    await executed(a_run(*cases), source, [])
    epoch = store.next_epoch()
    for name, most in (("over", None), ("open", 1), ("same", 1)):
        debate = f"r1~{name}"
        first, *others = (NewEvent(*_kept(one)) for one in source.read_stream(debate_stream(debate))[:most])
        opening = first._replace(parts=tuple(source.parts(debate).values()))
        store.append([Append(debate_stream(debate), (opening, *others), 0, epoch)])
        if most is None:
            calls = tuple(NewEvent(*_kept(one)) for one in source.read_stream(calls_stream(debate)))
            store.append([Append(calls_stream(debate), calls)])


def _kept(one: StoredEvent) -> tuple[str, str, int, int, bytes]:
    return one.event_id, one.type, one.schema, one.recorded_at, one.body


@pytest.fixture
def store() -> EventStore:
    return MemoryEventStore()


def length(store: EventStore, *names: str) -> list[int]:
    return [len(store.read_stream(debate_stream(f"r1~{name}"))) for name in names]


@pytest.mark.parametrize("seconds", [0.0, None])
async def test_cases_that_are_read_otherwise_are_named_and_the_others_go_on(
    store: EventStore, seconds: float | None
) -> None:
    await begun_earlier(store)
    problems: list[Finished] = []
    before = length(store, "over", "open")

    lines = await executed(
        a_run(read("over"), read("open"), read("same", answered=True), read("new")), store, problems, seconds=seconds
    )

    assert ["over", "same", "new"] == [line["case_id"] for line in lines]
    assert ["r1~open"] == [one.debate_id for one in problems]
    assert isinstance(problems[0].problem, ReadOtherwise)
    assert (
        "case 'open' is read otherwise than when debate r1~open opened: the final response was "
        f"{EARLIER!r}, now empty; the debate stays as it is; judge the case in a run of another name"
    ) == str(problems[0].problem)
    assert before == length(store, "over", "open")


def where_from(store: EventStore, debate: str) -> bytes | None:
    """The recorded provenance of a debate."""
    history = store.history(debate)
    ref = history.opened.provenance
    return None if ref is None else history.texts[ref.part]


async def test_a_run_whose_debates_have_no_provenance_goes_on(store: EventStore) -> None:
    await begun(store, *(without_provenance(read(name)) for name in ("over", "open", "same")))
    problems: list[Finished] = []
    before = length(store, "over")

    lines = await executed(a_run(read("over"), read("open"), read("same"), read("new")), store, problems)

    assert ["over", "open", "same", "new"] == [line["case_id"] for line in lines]
    assert [] == problems
    assert before == length(store, "over")
    assert (None, None) == (where_from(store, "r1~over"), where_from(store, "r1~open"))
    assert b'{"items":[[[0,"messages.0.content"],[1,"messages.1.content"],' in (where_from(store, "r1~new") or b"")


async def test_a_case_that_this_version_read_and_that_changed_is_refused() -> None:
    store = MemoryEventStore()
    await executed(a_run(read("c")), store, [])

    with pytest.raises(RunRefused, match="its content has changed") as refused:
        await executed(a_run(read("c", answered=True)), store, [])

    assert not isinstance(refused.value, ReadOtherwise)


async def test_a_single_evaluation_keeps_a_finished_debate_and_names_an_open_one() -> None:
    store = MemoryEventStore()
    await begun_earlier(store)

    assert is_over("r1~over", read("over"), a_resolved(), store)
    with pytest.raises(ReadOtherwise, match="case 'open' is read otherwise"):
        is_over("r1~open", read("open"), a_resolved(), store)
