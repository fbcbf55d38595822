"""Records of prompts 1 and prompts 2 in one grid: each is rescored as if it stood alone."""

import asyncio
from typing import Any, Literal

import pytest

from jury_debate import PROMPTS
from jury_replay import EVERYTHING, Grid, RescoreRow, RescoreStatus, Setting, rescore
from jury_store import EventStore
from support.runtime_harness import KeptStore, Run
from support.varied import FAULTS, a_varied_case

Mode = Literal["strict", "recount"]
DEBATES = 6
BASE: dict[str, Any] = {"discussion": {"max_rounds": 2, "threshold": 1.0}, "final": {"method": "majority_vote"}}
FEWER = Setting(max_rounds=1)
GRID = Grid((FEWER, Setting(threshold=0.67), Setting(method="median"), Setting(end_early=False)))


def hold(store: EventStore, prompts: int, **discussion: Any) -> EventStore:
    """Hold the same debates under a version of the prompts, under ids that name it."""
    run = Run(store, debates=DEBATES, case=a_varied_case, **{**BASE, "discussion": BASE["discussion"] | discussion})
    run.prompts = prompts
    run.cases = {f"p{prompts}-{debate}": case for debate, case in run.cases.items()}
    asyncio.run(run.execute(script=FAULTS))
    return store


def rescored(store: EventStore, mode: Mode) -> dict[tuple[str, str], RescoreRow]:
    """By debate and setting."""
    found: dict[tuple[str, str], RescoreRow] = {}
    for rows in rescore(store, EVERYTHING, GRID, mode=mode):
        assert isinstance(rows, list), rows
        found |= {(row.debate_id, row.setting): row for row in rows}
    return found


@pytest.fixture(scope="module")
def together() -> EventStore:
    store = KeptStore()
    for prompts in PROMPTS:
        hold(store, prompts)
    return store


@pytest.mark.parametrize("mode", ["strict", "recount"])
def test_each_record_is_rescored_as_if_it_stood_alone(together: EventStore, mode: Mode) -> None:
    alone = {key: row for prompts in PROMPTS for key, row in rescored(hold(KeptStore(), prompts), mode).items()}

    assert alone == rescored(together, mode)
    assert DEBATES * len(PROMPTS) * len(GRID.settings) == len(alone)


@pytest.mark.parametrize("prompts", PROMPTS)
def test_what_is_determined_is_what_comes_of_it_under_the_prompts_of_the_record(
    together: EventStore, prompts: int
) -> None:
    rows = {debate: row for (debate, setting), row in rescored(together, "strict").items() if setting == FEWER.name}
    determined = {
        debate: (row.new_verdict, row.new_score, row.new_end_reason)
        for debate, row in rows.items()
        if row.status is RescoreStatus.DETERMINED and debate.startswith(f"p{prompts}-")
    }
    really = hold(KeptStore(), prompts, max_rounds=1)
    ends = {
        row.debate_id: (row.old_verdict, row.old_score, row.old_end_reason)
        for row in rescored(really, "strict").values()
    }

    assert determined
    assert determined == {debate: ends[debate] for debate in determined}
