"""What the commands do, in Python: runs, forks, votes and probes; debates done again, sealed, exported, erased."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jury_analysis import GateOptions, PairedOptions, WorthOptions
from jury_events import BudgetBounds, DebateHistory, JuryError
from jury_judge import (
    Corpus,
    Database,
    Diagnosis,
    Erasure,
    ErasureScope,
    ForkSettings,
    GateSettings,
    IntegrityState,
    Jury,
    PlannedProbe,
    ProbeSettings,
    Records,
    Rescoring,
    RunPlan,
    RunRefused,
    RunSettings,
    Selection,
    StatisticsSettings,
    VoteReading,
    VoteReports,
    WorthSettings,
    estimate_run,
    grid_of,
    judge_probe,
    judge_run,
    judging_session,
    list_run,
    make_key,
    prepared_fork,
    settings_of,
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


async def test_a_run_is_judged_within_its_budget_and_resumed_by_the_same_call(cases: str, tmp_path: Path) -> None:
    lines: list[dict[str, object]] = []
    said: list[str] = []

    short = await judge_run(planned(cases, tmp_path, max_calls=4), lines.append, say=said.append)
    whole = await judge_run(planned(cases, tmp_path), lines.append, say=said.append)

    assert ["c0", "c0", "c1", "c2"] == [line["case_id"] for line in lines]
    assert (1, 3, 1, 2) == (short.now, whole.total, whole.before, whole.now)
    assert short.short is not None
    assert short.short.startswith("the budget of 4 calls covers no further debate: 2 debates left")
    assert (short.spent.calls, whole.spent.calls) == (3, 6)  # type: ignore[union-attr]
    assert said[0].startswith("3 debates to run: in this process")


async def test_a_run_that_began_otherwise_is_refused_before_anything_is_asked(cases: str, tmp_path: Path) -> None:
    lines: list[dict[str, object]] = []
    await judge_run(planned(cases, tmp_path), lines.append)

    with pytest.raises(RunRefused, match="run 'r' was begun with another panel"):
        await judge_run(planned(cases, tmp_path, method="median"), lines.append)

    assert 3 == len(lines)


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


async def test_a_table_is_read_once_and_counted_by_every_report(votes: str, tmp_path: Path) -> None:
    reports, table = VoteReports(), tmp_path / "table.parquet"

    written = await reports.votes([votes], VoteReading(cluster="cluster", seats=("gpt", "claude")), table)
    found = await reports.stats(StatisticsSettings(sources=(str(table),), resamples=0))
    worth = await reports.value(WorthSettings(votes=(str(table),)))
    gate = await reports.gate(GateSettings(votes=(str(table),), base=("gpt",), candidate=("claude",)))
    plan = await reports.plan(GateSettings(votes=(str(table),), base=("gpt",), plan=300))

    assert (80, 80) == (written, pq.read_table(table).num_rows)
    assert ["claude", "gpt"] == sorted(found.groups[0].statistics.panels[0].seats)
    assert 2 == len(worth.values.seats)
    assert "gate gpt → claude" == gate.title
    assert 300 == plan.cases


async def test_records_and_reports_say_the_same_of_a_store(store: str) -> None:
    asked = {"sources": ("base",), "store_url": store, "include_simulated": True}
    options = GateOptions(paired=PairedOptions(simulated=True))

    async with Records(store, create=False) as records:
        worth = await records.value(run_ids=["base"], options=WorthOptions(simulated=True))
        plan = await records.plan(200, "base", "candidate", options=options)

    sides = GateSettings(sources=("base", "candidate"), store_url=store, include_simulated=True, plan=200)
    assert worth.to_dict() == (await VoteReports().value(WorthSettings(**asked))).to_dict()
    assert plan.to_dict() == (await VoteReports().plan(sides)).to_dict()


async def test_twins_are_judged_beside_their_cases_and_compared(tmp_path: Path) -> None:
    (tmp_path / "probe.yaml").write_text("probe: [length, speakers]\nrun: p\npreset: parallel-rounds\nmax_calls: 500\n")
    cases = str(write_jsonl(tmp_path / "cases.jsonl", ROWS))
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    asked = settings_of(
        tmp_path / "probe.yaml",
        ProbeSettings,
        {},
        paths=(cases,),
        store_url=url,
        include_simulated=True,
        in_process=True,
    )
    lines: list[dict[str, Any]] = []
    said: list[str] = []

    report = await judge_probe(PlannedProbe(asked.files([cases]), asked), lines.append, say=said.append)

    assert 12 == len(lines)
    assert report is not None
    assert report.twins is not None
    assert {"speakers", "length"} == {one.probe for one in report.twins.probes}
    assert report == await VoteReports().probes(ProbeSettings(run_id="p", store_url=url, include_simulated=True))


CORPUS = Path(__file__).parent.parent / "corpus"
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


async def test_a_corpus_is_replayed_cassette_by_cassette(tmp_path: Path) -> None:
    one, other = sorted(CORPUS.glob("*.cassette.jsonl"))[:2]
    for path in (other, one):
        (tmp_path / path.name).write_bytes(path.read_bytes())

    found = [each async for each in Corpus([tmp_path]).regress()]

    assert [(one.name, "same"), (other.name, "same")] == [(each.path.name, each.status) for each in found]


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


async def test_debates_go_out_as_files_and_come_in_elsewhere(records: Records, tmp_path: Path) -> None:
    done: list[int] = []
    async with records:
        first = await records.export_cassettes(ALL, tmp_path / "out", progress=done.append)
        again = await records.export_cassettes(ALL, tmp_path / "out")
        alone = await records.cassette("d1")

    there = Records(f"sqlite:///{tmp_path / 'there.db'}", create=False)
    taken = await there.import_cassettes([tmp_path / "out"])
    retaken = await there.import_cassettes([tmp_path / "out"])

    assert ((3, 0), (0, 3)) == ((first.written, first.unchanged), (again.written, again.unchanged))
    assert [1, 2, 3] == done
    assert (tmp_path / "out" / "d1.cassette.jsonl").read_bytes() == alone
    assert ((3, 0), (0, 3)) == ((taken.imported, taken.unchanged), (retaken.imported, retaken.unchanged))


async def test_a_refused_cassette_is_said_and_the_others_come_in(records: Records, tmp_path: Path) -> None:
    async with records:
        await records.export_cassettes(ALL, tmp_path / "out")
    (tmp_path / "out" / "d1.cassette.jsonl").write_bytes(b"{}\n")
    said: list[str] = []

    there = Records(f"sqlite:///{tmp_path / 'there.db'}")
    taken = await there.import_cassettes([tmp_path / "out"], say=said.append)

    assert (2, ["d1.cassette.jsonl"]) == (taken.imported, [path.name for path, _ in taken.refused])
    assert 1 == len(said)


async def test_pages_are_what_the_caller_makes_of_a_debate(records: Records, tmp_path: Path) -> None:
    def render(history: DebateHistory, state: IntegrityState) -> list[str]:
        return ["<!doctype html>", history.debate_id, str(state.intact)]

    async with records:
        done = await records.export_pages(Selection(debate_ids=("d1",)), tmp_path / "one.html", render)
        page = await records.page("d0", render)

    assert (1, ()) == (done.written, done.altered)
    assert b"<!doctype html>d1True" == (tmp_path / "one.html").read_bytes()
    assert (b"<!doctype html>d0True", None) == page


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


async def test_a_database_is_made_checked_and_rebuilt(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'jury.db'}")

    before = await database.revision()
    made = await database.upgrade()

    assert (None, made) == before
    assert (made, made) == await database.revision()
    assert [] == await database.check()
    assert 0 == await database.rebuild()


async def test_debates_are_set_aside_and_taken_back(records: Records) -> None:
    database = Database(records.store_url)
    changed: list[tuple[str, bool]] = []

    def note(debate_id: str, done: bool) -> None:
        changed.append((debate_id, done))

    await database.quarantine(["d1", "d1"], by="ops", reason="broken", changed=note)
    await database.quarantine(["d1"], by="ops", reason="broken", changed=note)
    async with records:
        left = [one.debate_id async for one in records.replay_many(ALL)]
    await database.release(["d1"], by="ops", changed=note)

    assert ["d0", "d2"] == left
    assert [("d1", True), ("d1", False), ("d1", True)] == changed


async def test_a_diagnosis_names_a_panel_that_is_not_there_and_ends(records: Records) -> None:
    diagnosis = Diagnosis(records.store_url, panel="nope.yaml")

    found = [one async for one in diagnosis.findings()]

    assert "problem" == found[-1].mark
    assert found[-1].line.startswith("panel: ")
    assert not diagnosis.sound
    assert not [one async for one in diagnosis.probe()]


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
