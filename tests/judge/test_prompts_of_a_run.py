"""A run keeps the version of the prompts with which it was begun, whatever its panel would open new debates with."""

import pytest

from jury_debate.calibrated import panel_digest, prompts_digest
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_judge import Jury
from jury_judge.stores.debates import panel_of
from jury_store.opening import open_store
from support.calibrations import a_calibration
from support.debate_harness import a_case


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


CASES = [a_case(f"c{number}") for number in range(3)]


def a_panel(prompts: int, **spec: object) -> ResolvedPanel:
    return resolve(PanelSpec.model_validate({"discussion": {"max_rounds": 0}, **spec}), prompts=prompts)


async def judged(store_url: str, panel: ResolvedPanel, count: int) -> None:
    async with Jury(panel, store=store_url) as jury:
        assert count == len([result async for result in jury.evaluate_many(CASES[:count], run_id="r")])


@pytest.mark.parametrize("begun", [1, 2])
async def test_the_remaining_cases_of_a_run_open_under_its_own_prompts(store_url: str, begun: int) -> None:
    await judged(store_url, a_panel(begun), 1)
    await judged(store_url, a_panel(3 - begun), 3)

    assert [begun] * 3 == versions(store_url)


async def test_a_new_run_opens_under_the_prompts_of_its_panel(store_url: str) -> None:
    await judged(store_url, a_panel(2), 2)

    assert [2, 2] == versions(store_url)


def versions(store_url: str) -> list[int]:
    store = open_store(store_url, write=False)
    try:
        return [panel_of(store, row.debate_id).prompts for row in store.debates(run_id="r", limit=9)]
    finally:
        store.close()


@pytest.mark.parametrize("certified", [1, 2])
def test_a_panel_opens_under_the_prompts_that_its_calibration_was_certified_for(certified: int) -> None:
    bare = a_panel(certified)
    calibration = a_calibration().changed(panel=panel_digest(bare.panel), prompts=prompts_digest({}, None, certified))

    assert certified == a_panel(3 - certified, final={"calibration": calibration}).prompts
