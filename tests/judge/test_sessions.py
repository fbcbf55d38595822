"""What the commands do, in Python: runs, forks, votes and probes; debates done again, sealed, exported, erased."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from jury_events import BudgetBounds, JuryError
from jury_judge import (
    Erasure,
    ErasureScope,
    ForkSettings,
    Jury,
    Records,
    Rescoring,
    RunPlan,
    RunSettings,
    Selection,
    estimate_run,
    grid_of,
    judge_run,
    judging_session,
    list_run,
    make_key,
    prepared_fork,
)
from jury_judge.runs.cost_estimate import Range
from jury_migrations import upgrade
from jury_store import open_store
from support.cassettes import record_debate
from support.vote_rows import long_rows, write_jsonl


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(f'{{"id": "c{n}", "question": "Refund {n}.", "response": "Done."}}\n' for n in range(3)))
    return str(path)


def planned(cases: str, folder: Path, **settings: object) -> RunPlan:
    asked = RunSettings.of(
        **{"run_id": "r", "store_url": f"sqlite:///{folder / 'jury.db'}", "preset": "independent", **settings}
    )
    return RunPlan(asked.files([cases]), asked, environ={})


def test_an_estimate_writes_nothing_and_a_bound_has_what_earlier_sessions_spent(cases: str, tmp_path: Path) -> None:
    found = estimate_run(planned(cases, tmp_path, repeat=2))

    assert (6, 18) == (found.found.debates, found.found.calls.likely)
    assert {"run_id", "calls", "cost", "recipients"} <= set(found.data())
    assert not (tmp_path / "jury.db").exists()
    dear = found._replace(found=found.found._replace(cost=Range(1, 6, 12)), bounds=BudgetBounds(max_cost=5.0))
    assert (2, 5) == dear.affordable
    assert (1, 3) == dear._replace(spent=2.0).affordable
    assert (0, 0) == dear._replace(spent=7.0).affordable
    assert dear._replace(bounds=BudgetBounds()).affordable is None


async def test_a_fork_is_run_and_found_again(cases: str, tmp_path: Path) -> None:
    await judge_run(planned(cases, tmp_path), lambda _line: None)
    settings = ForkSettings(store_url=f"sqlite:///{tmp_path / 'jury.db'}", method="median")

    with prepared_fork("r~c0", "1", settings, lambda _line: None, {}) as first:
        assert await first.run() is None
        result = first.result()
    with prepared_fork("r~c0", "1", settings, lambda _line: None, {}) as again:
        assert (first.fork.debate_id, True) == (again.fork.debate_id, again.fork.over)

    assert ("completed", "median") == (result["status"], result["phase3_judgment"]["method"])


ROWS = [{"id": f"c{number}", "question": "Open?", "response": "At nine.", "label": "approve"} for number in range(4)]


@pytest.fixture
def votes(tmp_path: Path) -> str:
    return str(write_jsonl(tmp_path / "votes.jsonl", long_rows()))


@pytest.fixture
async def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    async with Jury("independent", store=url) as jury:
        for run in ("base", "candidate"):
            assert 4 == len([one async for one in jury.evaluate_many(ROWS, run_id=run)])
    return url


ALL = Selection(everything=True)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """Three debates, not open."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for n, name in enumerate(("d0", "d1", "d2")):
        record_debate(store, name, seed=n)
    store.close()
    return Records(url, create=False)


async def test_no_file_of_rows_is_written_by_halves(records: Records, tmp_path: Path) -> None:
    asked = Rescoring.of(selection=ALL, grid=grid_of({"method": "median"}), mode="recount")

    async with records, aclosing(records.rescore_many(asked, parquet=tmp_path / "rows.parquet")) as found:
        await anext(found)

    assert not _rows_in(tmp_path)


def _rows_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith((".rows", "rows"))]


async def test_a_log_is_sealed_and_proved(records: Records, tmp_path: Path) -> None:
    said: list[str] = []
    make_key(tmp_path / "key", "example.com/log")
    async with records:
        with pytest.raises(JuryError, match="the log has no seal yet"):
            await records.seal_note()
        sealed = await records.seal(tmp_path / "key", say=said.append)
        again = await records.seal(tmp_path / "key", say=said.append)
        listed = await records.seals()
        assert sealed is not None
        proof = await records.prove_included("d1")
        consistency = await records.prove(sealed.events)

        assert ([], False) == (said, again and again.is_new)
        assert [(sealed.events, "example.com/log")] == [(one.events, one.origin) for one in listed]
        assert sealed.note == await records.seal_note() == proof.checkpoint
        assert {"calls/d1", "debate/d1"} == set(proof.streams)
        assert sealed.events == consistency.new.tree_size == consistency.old.tree_size
        with pytest.raises(JuryError, match="no event of debate nope is under the latest seal"):
            await records.prove_included("nope")


async def test_texts_are_erased_where_the_caller_agrees(records: Records) -> None:
    order = Erasure(debate_id="d1", by="dpo", reason="request 17")
    async with records:
        plan = await records.plan_erasure(ErasureScope(debate_id="d1"))
        refused = await records.erase(order, agrees=lambda _plan: False)
        erased = await records.erase(order)
        replayed = await records.replay("d1")

    assert plan.texts > 0
    assert refused is None
    assert erased is not None
    assert (plan.texts, True) == (erased.texts, erased.scrubbed)
    assert "erased" == replayed.status


async def test_a_list_alone_stops_where_the_run_is_cancelled_and_goes_on_when_it_is_asked_for_again(
    cases: str, tmp_path: Path
) -> None:
    async def listed(*, reopens: int | None = None, limit: int | None = None) -> tuple[int, bool]:
        plan = planned(cases, tmp_path, limit=limit)
        plan.reopens = reopens
        with judging_session(plan, lambda _line: None, keys=False) as session:
            found = await list_run(session, asyncio.Event())
        return found.listed, found.complete

    first = await listed(limit=1)
    async with Records(f"sqlite:///{tmp_path / 'jury.db'}") as records:
        await records.cancel("r", by="ann")

    assert [(1, True), (1, True), (3, True)] == [first, await listed(reopens=0), await listed()]
