"""A run keeps the version of the prompts with which it was begun, whatever its panel would open new debates with."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from jury_debate import PanelSpec, ResolvedPanel, panel_digest, prompts_digest, resolve
from jury_judge import Jury
from jury_judge.store_access.debates import panel_of
from jury_store import open_store
from support.calibrations import a_calibration
from support.command_line import CommandLine
from support.debate_harness import a_case
from support.later_versions import later_program
from support.runtime_harness import Meter


@pytest.fixture(autouse=True)
def two_versions() -> Iterator[None]:
    with later_program():
        yield


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


POLICY = "Refund within 30 days.\n"
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


@pytest.mark.parametrize("policy", ["of the run", pytest.param("of the case", marks=pytest.mark.full)])
def test_a_debate_that_was_cut_short_goes_on_under_its_prompts_and_with_its_policy(
    jury: CommandLine, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    own = {"policy": POLICY} if policy == "of the case" else {}
    cases = jury.write(
        "cases.jsonl", *({"id": name, "question": "Refund.", "response": "Done.", **own} for name in "ab")
    )
    (jury.folder / "policy.md").write_text(POLICY, encoding="utf-8")
    given = (cases, "--run", "r", "--policy", "policy.md")
    meter = Meter()
    meter.breaks = lambda trace: "/final/" in trace
    with patch("jury_actors.runtime.provider_factory", meter.factory):
        begun = jury.run(*given, "--limit", "1")
    unfinished = jury("list", "--run", "r", "--unfinished", "--json").json
    # What opens by default changes between the two.
    monkeypatch.setattr(resolve, "__defaults__", ((), 2, ()))
    resumed, replayed = jury.run(*given), jury("replay", "--run", "r")

    assert (4, 0, 0) == (begun.code, resumed.code, replayed.code), resumed.err
    assert ["judging"] == [row["status"] for row in unfinished]
    assert [1, 1] == versions(f"sqlite:///{jury.folder / 'jury.db'}")


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
