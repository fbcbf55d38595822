"""A watched final judge streams its answer; the record contains the whole answer."""

from collections import defaultdict
from collections.abc import Callable

import pytest

from jury_actors import Backoff, Chunk, in_process_runtime
from jury_events import ExchangeRecorded, calls_stream, decode
from jury_providers import Script, WireScript, simulation_server
from jury_store import EventStore, open_store
from support.endpoints import endpoints
from support.runtime_harness import KeptStore, Run, completed
from support.tiers import others_full


def written(chunks: list[Chunk]) -> dict[str, str]:
    """The chunks of each exchange, joined."""
    texts: dict[str, str] = defaultdict(str)
    for chunk in chunks:
        assert (chunk.debate_id, chunk.step_id) == ("d0", "final")
        texts[chunk.exchange] += chunk.text
    return dict(texts)


def recorded(store: EventStore) -> dict[str, str]:
    """The final judge's answers in the log, by exchange id."""
    exchanges = [decode(event) for event in store.read_stream(calls_stream("d0"))]
    texts = {part.ref.part: part.content for part in store.parts("d0").values()}
    return {
        exchange.event_id: texts[exchange.answer.part].decode()
        for exchange in exchanges
        if isinstance(exchange, ExchangeRecorded) and exchange.step == "final" and exchange.answer is not None
    }


async def test_the_pieces_of_each_attempt_make_up_its_recorded_answer() -> None:
    run = Run(KeptStore())
    run.watched = []
    await run.execute(script=Script(scripted={"final": ("unparseable", "timeout")}))

    assert len(run.watched) > len(written(run.watched)) == 2, "prose first, then a usable answer, in several pieces"
    assert written(run.watched) == recorded(run.store)


async def test_without_a_watcher_no_chunks_are_published() -> None:
    run = Run(KeptStore())
    chunks: list[Chunk] = []
    jobs = run.jobs
    run.watched = chunks
    async with run.runtime() as runtime:
        await run.execute_in(runtime, jobs=jobs)

    assert chunks == []


@pytest.mark.parametrize("judge", others_full("openai/m", "openai-responses/m", "anthropic/m", "google/m"))
async def test_a_real_sdk_streams_the_judge_and_the_whole_is_recorded(
    new_sqlite: Callable[[], EventStore], judge: str
) -> None:
    store = new_sqlite()
    run = Run(store, final={"judge": {"model": judge, "fallbacks": [], "settings": {"tries": 3}}})
    run.watched = []
    script = WireScript(scripted={"final": ("dropped_stream", "unparseable")})
    async with simulation_server(script) as simulation:
        plan = run.plan()._replace(endpoints=endpoints(simulation.url))
        async with in_process_runtime(plan, lambda: store, backoff=Backoff(base=0.0, cap=0.0)) as runtime:
            found = await run.execute_in(runtime)

    chunks, kept = written(run.watched), recorded(store)
    attempts = sorted(chunks)
    assert completed(found.values())
    assert len(attempts) == 3
    assert kept == {exchange: chunks[exchange] for exchange in attempts[1:]}, "the first never came to its end"
    assert len(run.watched) > 2 * len(attempts)


@pytest.mark.ray
@pytest.mark.usefixtures("ray_cluster")
async def test_pieces_reach_the_driver_through_the_actors_of_a_cluster(sqlite_url: str) -> None:
    from jury_actors import ray_runtime

    store = open_store(sqlite_url, write=False)
    run = Run(store)
    run.watched = []
    async with ray_runtime.ray_runtime(run.plan(url=sqlite_url)) as runtime:
        found = await run.execute_in(runtime)
    texts = written(run.watched), recorded(store)
    store.close()

    assert completed(found.values())
    assert texts[0] == texts[1] != {}
