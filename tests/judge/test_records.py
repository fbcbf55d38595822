"""What Python reads of a store without a panel: debates chosen by conditions on their cases."""

from pathlib import Path
from typing import Any

import pytest

from jury_analysis.calibration import CalibrationOptions
from jury_analysis.errors import TooFewLabels
from jury_analysis.statistics import StatisticsOptions
from jury_events.conditions import parse_condition
from jury_events.errors import BadCondition, DebateNotFound, SettingError
from jury_judge.records.records import Records
from jury_migrations.upgrading import upgrade
from jury_replay.rescoring.rows import RescoreRow
from jury_store.event_store import Append
from jury_store.opening import open_store
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
