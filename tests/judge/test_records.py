"""What Python reads of a store without a panel: debates chosen by conditions on their cases."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from jury_analysis import CalibrationOptions, StatisticsOptions, TooFewLabels
from jury_events import BadCondition, DebateNotFound, JuryError, SettingError, Verdict, parse_condition
from jury_judge import ComparedDebates, ComparedRuns, NewReview, Records
from jury_migrations import upgrade
from jury_replay import RescoreRow
from jury_store import Append, DebateFilter, SortOrder, open_store
from support.debates import DebateScript

CASES: dict[str, dict[str, Any]] = {
    "d0": {"tags": ("refund",), "metadata": {"level": 3}},
    "d1": {"tags": ("refund", "card")},
    "d2": {"run_id": "other", "tags": ("card",)},
}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Three completed debates."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    upgrade(url)
    store = open_store(url, write=True)
    for n, (name, fields) in enumerate(CASES.items()):
        script = DebateScript(name, seed=n)
        store.append([Append(script.stream, (script.opened(**fields), *script.whole()[1:]), 0, 1)])
    store.close()
    return url


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["d0", "d1", "d2"]),
        ({"where": "tags=refund"}, ["d0", "d1"]),
        ({"where": ["tags=refund", "metadata.level!=3"]}, ["d1"]),
        ({"where": parse_condition("tags=card"), "run_id": "run"}, ["d1"]),
        ({"unfinished": True}, []),
    ],
)
async def test_debates_are_listed_by_conditions(url: str, chosen: dict[str, Any], expected: list[str]) -> None:
    async with Records(url) as records:
        found = [row.debate_id async for row in records.debates(**chosen)]

    assert expected == found


async def test_what_is_rescored_is_chosen_by_conditions(url: str) -> None:
    async with Records(url) as records:
        rows = await records.rescore(where="tags=refund", settings={"threshold": 1.0}, mode="recount")

    of_debate = {row.debate_id: row for row in rows if isinstance(row, RescoreRow)}
    assert ["d0", "d1"] == list(of_debate)
    assert (("refund",), {"level": 3}, None, 0) == (
        of_debate["d0"].tags,
        of_debate["d0"].metadata,
        of_debate["d0"].cluster,
        of_debate["d0"].not_shown,
    )


async def test_conditions_that_cannot_be_met_are_refused(url: str) -> None:
    async with Records(url) as records:
        with pytest.raises(BadCondition, match="did you mean tags"):
            [row async for row in records.debates(where="tag=refund")]
        with pytest.raises(SettingError, match="leave debate_ids out"):
            await records.rescore("d0", where="tags=refund", settings={"threshold": 1.0})
        with pytest.raises(DebateNotFound, match="tags=refnd"):
            await records.rescore(where="tags=refnd", settings={"threshold": 1.0})


@pytest.mark.parametrize(
    ("chosen", "debates"), [({}, 3), ({"run_ids": ["other"]}, 1), ({"run_ids": ["run", "other"]}, 3)]
)
async def test_statistics_are_of_the_chosen_debates(url: str, chosen: dict[str, Any], debates: int) -> None:
    async with Records(url) as records:
        found = await records.stats(**chosen, options=StatisticsOptions(simulated=True, by_panel=True))

    assert debates == sum(panel.debates for panel in found.panels)


async def test_statistics_of_nothing_are_refused(url: str) -> None:
    async with Records(url) as records:
        with pytest.raises(DebateNotFound, match="no finished debate of a run 'none' in this store"):
            await records.stats(run_ids=["none"])
        with pytest.raises(SettingError, match="--seats 'nobody': no debate has this seat"):
            await records.stats(seats=["nobody"])


async def test_too_few_labels_for_a_calibration_are_refused(url: str) -> None:
    async with Records(url) as records:
        with pytest.raises(TooFewLabels, match=r"labels to certify on are too few: .* takes 45 at least"):
            await records.calibrate(run_ids=["run"], options=CalibrationOptions(simulated=True))


async def test_a_list_is_sorted_bounded_and_goes_on_after_its_last_row(url: str) -> None:
    order = SortOrder("case", descending=False)

    async with Records(url) as records:
        first = [one.row async for one in records.listed(sorted_by=order, limit=2)]
        after = order.cursor(asdict(first[-1]))
        rest = [one.row.debate_id async for one in records.listed(sorted_by=order, after=after)]
        newest = [one.row.debate_id async for one in records.listed()]

    assert (["d0", "d1"], ["d2"], ["d2", "d1", "d0"]) == ([row.debate_id for row in first], rest, newest)


async def test_a_search_says_where_it_found_its_words(url: str) -> None:
    async with Records(url) as records:
        found = [one async for one in records.listed(DebateFilter(search="d1"))]
        lag = await records.search_lag()

    assert (["d1"], [None], 0) == ([one.row.debate_id for one in found], [one.excerpt for one in found], lag)


async def test_debates_are_counted_by_a_field_added_up_and_by_run(url: str) -> None:
    async with Records(url) as records:
        groups = [(group.value, group.debates) for group in await records.groups("tags")]
        totals = await records.totals(DebateFilter(run_id="run"))
        runs = [(run.run_id, run.debates) for run in await records.run_rows()]
        there = [await records.has_debates(DebateFilter(run_id=run)) for run in ("run", "nobody's")]

    assert [("card", 2), ("refund", 2)] == groups
    assert (2, [("other", 1), ("run", 2)], [True, False]) == (totals.debates, runs, there)


async def test_two_debates_and_two_runs_are_compared(url: str) -> None:
    async with Records(url) as records:
        debates = await records.compare("d0", "d1")
        runs = await records.compare("run", "other")
        with pytest.raises(JuryError, match="d0 is a debate and run is a run"):
            await records.compare("d0", "run")

    assert isinstance(debates, ComparedDebates)
    assert isinstance(runs, ComparedRuns)
    assert ("d0", "d1", True) == (
        debates.compared.a.debate_id,
        debates.compared.b.debate_id,
        debates.compared.same_case,
    )
    assert (None, "the two sets have no case") == (runs.paired, (runs.unpaired or "")[:25])


async def test_a_review_is_asked_for_recorded_and_withdrawn(url: str) -> None:
    async with Records(url) as records:
        await records.assign_review("d0", "ann", by="bob")
        asked = [(one.row.debate_id, one.why) for one in await records.review_queue("ann")]
        waits = await records.awaits_review("d0", "ann")
        made = await records.review("d0", NewReview("ann", Verdict.SAFE_PASS, "Nothing was refunded."))
        done = await records.awaits_review("d0", "ann")
        await records.withdraw_review("d0", made.number, by="ann")
        left = (await records.read("d0")).reviews.standing

    assert ([("d0", "assigned")], True, False, ()) == (asked, waits, done, tuple(left))


async def test_a_sample_is_drawn_once(url: str) -> None:
    async with Records(url) as records:
        drawn = [await records.draw_reviews("ann", 2, seed=3) for _ in range(2)]
        queue = await records.review_queue("ann", sampled=True)
        first = await records.review_queue("ann", sampled=True, limit=1)

    assert (drawn[0], 2, queue[:1]) == (drawn[1], len(queue), first)


async def test_a_debate_that_is_not_there_cannot_be_reviewed(url: str) -> None:
    async with Records(url) as records:
        with pytest.raises(DebateNotFound):
            await records.reviewable("nowhere")
        with pytest.raises(SettingError):
            await records.review("no id", NewReview("ann", Verdict.SAFE_PASS))

        assert "d0" == (await records.reviewable("d0")).row.debate_id
