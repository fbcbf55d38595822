"""What Python reads of a store without a panel, and what it is refused; `tests/doors` compares it with other doors."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from jury_analysis import CalibrationOptions, StatisticsOptions
from jury_events import JuryError, Verdict, parse_condition
from jury_judge import Jury, NewReview, Records
from jury_migrations import upgrade
from jury_store import Append, DebateFilter, SortOrder, open_store
from support.debates import DebateScript
from support.refusals import RefusalTables

Call = Callable[[Records], Awaitable[Any]]

CASES: dict[str, dict[str, Any]] = {
    "d0": {"tags": ("refund",), "metadata": {"level": 3}},
    "d1": {"tags": ("refund", "card")},
    "d2": {"run_id": "other", "tags": ("card",)},
}
BY_CASE = SortOrder("case", descending=False)
SIMULATED = StatisticsOptions(simulated=True, by_panel=True)


def make_store(folder: Path) -> str:
    """Three completed debates of two runs."""
    url = f"sqlite:///{folder / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for n, (name, fields) in enumerate(CASES.items()):
        script = DebateScript(name, seed=n)
        store.append([Append(script.stream, (script.opened(**fields), *script.whole()[1:]), 0, 1)])
    store.close()
    return url


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """For reading only."""
    return make_store(tmp_path_factory.mktemp("records"))


async def ids(rows: AsyncIterator[Any]) -> list[str]:
    return [getattr(row, "row", row).debate_id async for row in rows]


async def after_the_first_two(records: Records) -> list[str]:
    *_, last = [one.row async for one in records.listed(sorted_by=BY_CASE, limit=2)]
    return await ids(records.listed(sorted_by=BY_CASE, after=BY_CASE.cursor(asdict(last))))


async def rescored(records: Records) -> list[Any]:
    rows = await records.rescore(where="tags=refund", settings={"threshold": 1.0}, mode="recount")
    return [(row.debate_id, row.tags, row.metadata, row.cluster, row.not_shown) for row in rows]  # type: ignore[union-attr]


async def counted(records: Records, **chosen: Any) -> int:
    return sum(panel.debates for panel in (await records.stats(**chosen, options=SIMULATED)).panels)


async def compared(records: Records) -> list[Any]:
    debates, runs = await records.compare("d0", "d1"), await records.compare("run", "other")
    return [debates.compared.same_case, runs.paired, (runs.unpaired or "")[:25]]  # type: ignore[union-attr]


async def told_apart(records: Records) -> list[Any]:
    known = [await records.is_run(name) for name in ("run", "nobody's", "d0")]
    there = [await records.has_debates(DebateFilter(run_id=name)) for name in ("run", "nobody's")]
    return [known, there, await records.missing_debates(["d0", "run"]), await records.run_counts("nobody's")]


READ: dict[str, tuple[Call, Any]] = {
    "all": (lambda r: ids(r.debates()), ["d0", "d1", "d2"]),
    "by a condition": (lambda r: ids(r.debates(where="tags=refund")), ["d0", "d1"]),
    "by two conditions": (lambda r: ids(r.debates(where=["tags=refund", "metadata.level!=3"])), ["d1"]),
    "of a run": (lambda r: ids(r.debates(where=parse_condition("tags=card"), run_id="run")), ["d1"]),
    "unfinished": (lambda r: ids(r.debates(unfinished=True)), []),
    "newest first": (lambda r: ids(r.listed()), ["d2", "d1", "d0"]),
    "after the first two": (after_the_first_two, ["d2"]),
    "by a word": (lambda r: ids(r.listed(DebateFilter(search="d1"))), ["d1"]),
    "rescored by a condition": (
        rescored,
        [("d0", ("refund",), {"level": 3}, None, 0), ("d1", ("refund", "card"), {}, None, 0)],
    ),
    "statistics of all": (counted, 3),
    "statistics of a run": (lambda r: counted(r, run_ids=["other"]), 1),
    "statistics of two runs": (lambda r: counted(r, run_ids=["run", "other"]), 3),
    "compared": (compared, [True, None, "the two sets have no case"]),
    "told apart": (told_apart, [[True, False, False], [True, False], ["run"], None]),
}


async def test_debates_are_chosen_counted_and_compared(url: str, subtests: pytest.Subtests) -> None:
    async with Records(url) as records:
        for name, (call, expected) in READ.items():
            with subtests.test(name):
                assert expected == await call(records)


async def test_runs_and_groups_are_counted_and_a_run_that_is_over_is_watched_in_one_look(url: str) -> None:
    async with Records(url) as records:
        groups = [(group.value, group.debates) for group in await records.groups("tags")]
        runs = [(run.row.run_id, run.row.completed, run.holder) for run in await records.runs()]
        totals = await records.totals(DebateFilter(run_id="run"))
        looks = [live.row.ended async for live in records.watch_run("run")]
        lag = await records.search_lag()

    assert ([("card", 2), ("refund", 2)], [("other", 1, None), ("run", 2, None)]) == (groups, sorted(runs))
    assert (2, [2], 0) == (totals.debates, looks, lag)


REFUSED: dict[str, Call] = {
    "a condition on what there is not": lambda r: ids(r.debates(where="tag=refund")),
    "debates and conditions": lambda r: r.rescore("d0", where="tags=refund", settings={"threshold": 1.0}),
    "conditions that nothing meets": lambda r: r.rescore(where="tags=refnd", settings={"threshold": 1.0}),
    "statistics of no run": lambda r: r.stats(run_ids=["none"]),
    "statistics of no seat": lambda r: r.stats(seats=["nobody"]),
    "a calibration of too few labels": lambda r: r.calibrate(
        run_ids=["run"], options=CalibrationOptions(simulated=True)
    ),
    "a debate beside a run": lambda r: r.compare("d0", "run"),
    "a review of nothing": lambda r: r.reviewable("nowhere"),
    "a review of no id": lambda r: r.review("no id", NewReview("ann", Verdict.SAFE_PASS)),
    "cancelling no run": lambda r: r.cancel("none", by="ann"),
    "cancelling by a long name": lambda r: r.cancel("run", by="x" * 31),
    "cancelling by two lines": lambda r: r.cancel("run", by="a\nb"),
}


async def test_what_cannot_be_asked_of_records_is_refused(url: str, refusals: RefusalTables) -> None:
    said = {}
    async with Records(url) as records:
        for name, call in REFUSED.items():
            with pytest.raises(JuryError) as refused:
                await call(records)
            said[name] = str(refused.value)

    refusals.compare("records", said)


async def test_a_review_is_asked_for_recorded_and_withdrawn_and_a_sample_drawn_once(tmp_path: Path) -> None:
    async with Records(make_store(tmp_path)) as records:
        await records.assign_review("d0", "ann", by="bob")
        asked = [(one.row.debate_id, one.why) for one in await records.review_queue("ann")]
        waits = await records.awaits_review("d0", "ann")
        made = await records.review("d0", NewReview("ann", Verdict.SAFE_PASS, "Nothing was refunded."))
        done = await records.awaits_review("d0", "ann")
        await records.withdraw_review("d0", made.number, by="ann")
        left = (await records.read("d0")).reviews.standing
        drawn = [await records.draw_reviews("cho", 2, seed=3) for _ in range(2)]
        queue = await records.review_queue("cho", sampled=True)
        first = await records.review_queue("cho", sampled=True, limit=1)

        assert "d0" == (await records.reviewable("d0")).row.debate_id
    assert ([("d0", "assigned")], True, False, ()) == (asked, waits, done, tuple(left))
    assert (drawn[0], 2, queue[:1]) == (drawn[1], len(queue), first)


async def test_a_run_that_is_over_is_complete_and_cancelling_it_changes_nothing(sqlite_url: str) -> None:
    async with Jury("independent", store=sqlite_url) as jury:
        judged = jury.evaluate_many([{"id": "one", "question": "Open?", "response": "Yes."}], run_id="r1")
        assert 1 == len([one async for one in judged])
    async with Records(sqlite_url) as records:
        done = await records.cancel("r1", by="ann")
        (run,) = await records.runs()

    assert ((0, 0, None), "complete", 1) == (done, run.state, run.row.completed)


async def test_a_debate_is_named_by_its_case_in_a_run_or_in_any(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for run in ("a", "b"):
        script = DebateScript(f"of-{run}", seed=1)
        opened = script.opened(case_id="c", run_id=run)
        store.append([Append(script.stream, (opened, *script.whole()[1:]), 0, 1)])
    store.close()
    async with Records(url) as records:
        named = [await records.named("c", run) for run in ("a", "b", None)]
        with pytest.raises(JuryError, match="case 'of-a' in the run b"):
            await records.named("of-a", "b")

    assert [("of-a", 0), ("of-b", 0), ("of-b", 1)] == [tuple(one) for one in named]
