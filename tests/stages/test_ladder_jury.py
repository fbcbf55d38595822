"""`Jury` of a ladder: a case is judged stage by stage, as a run by the same ladder judges it."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_actors import Halted
from jury_integrations import HostedJury
from jury_judge import (
    Budget,
    Jury,
    Ladder,
    Overrides,
    PanelFileError,
    RunRefused,
    first_of,
    judge_run,
    opening_of,
)
from jury_store import ALL_STAGES
from support.ladders import a_ladder, ladder_file, staged
from support.runtime_harness import Meter

PASSES = {"pass": 1.0}
EARLY, LATE = "c0", "c1"


def rows_of(cases: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, cases.read_text().splitlines())}


def a_jury(url: str, ladder: Ladder, **fields: Any) -> Jury:
    return Jury(first_of(ladder), store=url, environ={}, **fields)


async def test_a_case_is_judged_stage_by_stage_and_the_accepted_debate_is_the_result(
    cases: Path, url: str, tmp_path: Path, meter: Meter
) -> None:
    ladder, rows = a_ladder(tmp_path, PASSES, audit=1.0), rows_of(cases)
    events: list[str] = []
    async with a_jury(url, ladder) as jury:
        early = await jury.evaluate(rows[EARLY], run_id="r", on_event=lambda one: events.append(one["type"]))
        late = await jury.evaluate(rows[LATE], run_id="r")
        served = meter.served.total()
        again = [await jury.evaluate(rows[one], run_id="r") for one in (EARLY, LATE)]
        places = [opening_of(jury.store, one).stage for one in ("r~c0", "r~c0~s2", "r~c1", "r~c1~s2")]
        asides = {row.debate_id: row.aside for row in jury.store.list_debates(ALL_STAGES)}
        loose = await jury.evaluate(rows[LATE])

        assert ["r~c0", "r~c1~s2"] == [early.debate_id, late.debate_id] == [one.debate_id for one in again]
        assert [early.final_verdict, late.final_verdict] == [one.final_verdict for one in again]
        assert 2 * (2 + 4) == served
        assert {"r~c0": None, "r~c0~s2": "audit", "r~c1": "escalated", "r~c1~s2": None} == asides
        assert [(None, False), ("r~c0", True), (None, False), ("r~c1", False)] == [
            (one.before, one.audit) for one in places if one is not None
        ]
        assert {ladder.digest} == {one.ladder for one in places if one is not None} == {jury.panel_digest}
        assert 1 == events.count("evaluation_completed")  # none of the audit
        assert loose.debate_id.endswith("~c1~s2")
        assert [2, 4] == [len(one.seats) for one in jury.panels]


async def test_a_jury_and_a_run_by_the_same_ladder_go_on_with_each_others_debates(
    cases: Path, url: str, tmp_path: Path, meter: Meter
) -> None:
    ladder, rows = a_ladder(tmp_path, PASSES, audit=1.0), rows_of(cases)
    lines: list[dict[str, Any]] = []
    async with a_jury(url, ladder) as jury:
        for name in (EARLY, LATE):
            await jury.evaluate(rows[name], run_id="r")
    await judge_run(staged(cases, url, ladder), lines.append)
    served = meter.served.total()
    async with a_jury(url, ladder) as jury:
        results = [one async for one in jury.evaluate_many(cases, run_id="r")]
        others = [one async for one in jury.evaluate_many(cases, run_id="other", repeat=2)]

        assert 6 * (2 + 4) == served
        assert ["c0", "c1", "c2", "c3", "c4", "c5"] == [one["case_id"] for one in lines]
        assert [one["debate_id"] for one in lines] == [one.debate_id for one in results]
        assert 12 == len({one.debate_id for one in others})
        assert "other~c1~2~s2" in {one.debate_id for one in others}
        assert {1} == {count for trace, count in meter.served.items() if trace.startswith("r~")}


async def test_a_budget_that_ends_between_stages_stops_the_case_and_the_same_call_goes_on(
    cases: Path, url: str, tmp_path: Path, meter: Meter
) -> None:
    ladder, rows = a_ladder(tmp_path, PASSES), rows_of(cases)
    async with a_jury(url, ladder, budget=Budget(max_calls=3)) as jury:
        with pytest.raises(Halted, match="3 calls"):
            await jury.evaluate(rows[LATE], run_id="r")
    async with a_jury(url, ladder) as jury:
        result = await jury.evaluate(rows[LATE], run_id="r")

    assert "r~c1~s2" == result.debate_id
    assert 2 + 4 == meter.served.total() == len(meter.served)


async def test_a_debate_of_another_ladder_or_of_none_is_refused(cases: Path, url: str, tmp_path: Path) -> None:
    ladder, rows = a_ladder(tmp_path, PASSES), rows_of(cases)
    async with a_jury(url, ladder) as jury:
        await jury.evaluate(rows[LATE], run_id="r")
    async with a_jury(url, a_ladder(tmp_path, PASSES, audit=0.5)) as jury:
        with pytest.raises(RunRefused, match=r"debate r~c1 was opened with the ladder [0-9a-f]{16}, and this is one w"):
            await jury.evaluate(rows[LATE], run_id="r")
    async with Jury(ladder.stages[-1], store=url, environ={}) as jury:
        with pytest.raises(RunRefused, match="and this is one without a ladder: use the panel or ladder that it was"):
            await jury.evaluate(rows[LATE], debate_id="r~c1~s2")
    with pytest.raises(PanelFileError, match="the panels of a ladder are certified as they are: leave overrides out"):
        a_jury(url, ladder, overrides=Overrides(max_rounds=1))


def test_an_adapter_for_other_tools_judges_by_a_ladder_file(cases: Path, url: str, tmp_path: Path) -> None:
    hosted = HostedJury("tool", panel=str(ladder_file(tmp_path)), store=url)
    row = rows_of(cases)[LATE]

    first, again = (hosted.judge(hosted.case(row)) for _ in range(2))

    assert first.metadata == again.metadata
    assert first.metadata["debate_id"].endswith("~s2")
    assert 4 == len(first.metadata["votes"])
