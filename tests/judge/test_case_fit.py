"""Cases that are longer than the windows of a panel's models: named before the first call, and read as it was said."""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from jury_actors import RunBudget, in_process_runtime
from jury_cli import Exit, dry_run
from jury_debate import PanelSpec, ResolvedPanel, resolve
from jury_events import BudgetBounds, Case
from jury_judge import CaseFit, LoadedPanel, Rehearsal, RunInput, RunPlan, RunSettings, estimate, preflight
from jury_providers import Endpoint, Price, Prices
from jury_store import MemoryEventStore
from support.debate_harness import a_case
from support.each_row import each_row
from support.long_records import WINDOW, a_long_case
from support.pictures import a_case_with_pictures
from support.runtime_harness import KeptStore, a_resolved, completed
from support.runtime_harness import Run as Harness

OWN = Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1", window=20_000)
SEATS = [
    {"model": "own/small", "juror_id": "small", "fallbacks": []},
    {"model": "openai/gpt-4o", "juror_id": "large", "fallbacks": []},
    {"model": "simulated/juror", "juror_id": "unknown", "fallbacks": []},
]

SMALL_AND_LARGE = {"own": OWN}


def a_wordy_case(case_id: str, kilobytes: int) -> Case:
    return a_case(case_id).changed(artifact_summary="All orders were refunded. " * (40 * kilobytes))


def a_fit(*cases: Case, judge: str | None = None, **settings: object) -> CaseFit:
    final = {"method": "majority_vote"} if judge is None else {"judge": {"model": judge, "fallbacks": []}}
    resolved = a_resolved(seats=SEATS, final=final, settings=settings)
    fit = CaseFit(resolved, SMALL_AND_LARGE)
    for case in cases:
        fit.add(case)
    return fit


def test_cases_that_are_longer_than_a_window_are_counted_by_seat():
    fit = a_fit(a_case("short"), a_wordy_case("longer", 100), a_wordy_case("longest", 800))

    assert [
        ("small", 20_000, 2, ["longer", "longest"]),
        ("large", 128_000, 1, ["longest"]),
        ("unknown", None, 0, []),
    ] == [(seat.juror_id, seat.window, seat.too_long, seat.first_ids) for seat in fit.seats]


def test_a_preflight_compares_the_cases_that_it_reads():
    run = RunInput(
        run_id="r1",
        resolved=a_resolved(seats=SEATS, final={"method": "majority_vote"}),
        cases=lambda _fetch: iter((a_case("short"), a_wordy_case("long", 100))),
        concurrency=1,
    )

    checked = preflight(run, MemoryEventStore(), seconds=None, endpoints=SMALL_AND_LARGE)

    assert (2, ["long"]) == (checked.fit.cases, checked.fit.seats[0].first_ids)


TODAY = date(2026, 11, 25)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
READERS = [
    {"model": "simulated/juror", "juror_id": "small", "window": WINDOW},
    {"model": "simulated/juror", "juror_id": "middle", "window": 2 * WINDOW},
    {"model": "simulated/juror", "juror_id": "large", "window": 1_000_000},
]


def a_panel_of(*seats: dict[str, Any], **spec: object) -> ResolvedPanel:
    written = {"seats": seats or READERS, "final": {"method": "majority_vote"}, "preset": "independent", **spec}
    return resolve(PanelSpec.model_validate(written))


def a_reading(resolved: ResolvedPanel, *cases: Case) -> CaseFit:
    fit = CaseFit(resolved)
    for case in cases:
        fit.add(case)
    return fit


async def asked(resolved: ResolvedPanel, case: Case) -> Counter[str]:
    """The calls of a debate, by step."""
    run = Harness(KeptStore())
    run.resolved, run.cases = resolved, {"d0": case}
    assert completed((await run.execute()).values())
    return Counter("/".join(exchange.split("/")[:2]) for exchange in run.exchange_ids("d0"))


async def test_the_parts_that_are_announced_are_those_that_are_read() -> None:
    resolved, case = a_panel_of(), a_long_case(40)
    small, middle, large = a_reading(resolved, case).seats

    found = await asked(resolved, case)

    # One call a part, and the one that closes.
    assert {"initial/small": 1 + max(small.parts), "initial/middle": 1 + max(middle.parts), "initial/large": 1} == found
    assert max(small.parts) > max(middle.parts) > 1
    assert (0, 0) == (large.not_whole, large.too_long)


def test_lines_and_data_say_how_cases_are_read() -> None:
    fit = a_reading(a_panel_of(), a_long_case(2), a_long_case(40), a_long_case(80))
    small, middle, _ = fit.seats
    (line,) = fit.lines()

    assert line == (
        f"not read whole, of 3 cases: {small.not_whole} in {min(small.parts)} to {max(small.parts)} parts by small, "
        f"{middle.not_whole} in {min(middle.parts)} to {max(middle.parts)} parts by middle"
    )
    assert fit.data()["seats"][1] == {
        "juror_id": "middle",
        "model": "simulated/juror",
        "window": 2 * WINDOW,
        "whole": 3 - middle.not_whole,
        "in_parts": middle.not_whole,
        "fewest_parts": min(middle.parts),
        "most_parts": max(middle.parts),
        "outlined": 0,
        "too_long": 0,
        "too_long_cases": [],
    }


@pytest.mark.parametrize("spec", [{}, {"preset": "parallel-rounds", "discussion": {"max_rounds": 2}}], ids=str)
async def test_a_debate_takes_what_was_estimated(spec: dict[str, Any]) -> None:
    resolved, case = a_panel_of(**spec), a_long_case(40)
    found = estimate(resolved, [case], debates=1, prices=PRICES, endpoints={}, on=TODAY)
    steps = await asked(resolved, case)

    assert found.calls.least <= steps.total() <= found.calls.most
    assert ["small", "middle"] == [one.juror_id for one in found.reading]
    for one in found.reading:
        assert one.calls.least <= steps[f"initial/{one.juror_id}"] <= one.calls.most


async def test_calls_of_a_step_that_are_made_at_once_stay_within_a_budget() -> None:
    resolved, case = a_panel_of(READERS[0]), a_long_case(12)
    run = Harness(KeptStore())
    run.resolved, run.cases = resolved, {"d0": case}
    bounded = run.plan()._replace(budget=RunBudget(BudgetBounds(max_calls=4)))
    async with in_process_runtime(bounded, lambda: run.store) as runtime:
        stopped = await run.execute_in(runtime)
    before = run.exchange_ids("d0")
    whole = await run.execute()

    assert "budget of 4 calls" in str(stopped["d0"].problem)
    assert 4 == len(before)
    assert completed(whole.values())
    assert before == run.exchange_ids("d0")[:4]


@each_row("images", [False, True])
def test_a_case_that_is_cut_is_shown_whole_before_a_run(images: bool) -> None:
    seen = a_case_with_pictures()
    case = seen.changed(scenarios=(*a_long_case(12).scenarios, seen.scenarios[0].changed(scenario_id="s2")))
    sighted = [{**seat, "images": True} for seat in READERS]
    judge = {"method": "final_judge", "judge": {"model": "simulated/judge", "images": images}}
    cut, whole = (
        Rehearsal(case, a_panel_of(*({**seat, "window": window or seat["window"]} for seat in sighted), final=judge))
        for window in (None, 10_000_000)
    )

    assert whole.opened.reading is None
    assert cut.opened.reading is not None
    assert whole.case_piece(images=images) == cut.case_piece(images=images)
    assert len(cut.final_prompt(images=images)) < len(whole.final_prompt(images=images))


def test_a_dry_run_says_what_reading_in_parts_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\\n".join(f"file-{number}.txt" for number in range(2_000))
    cases = tmp_path / "cases.jsonl"
    cases.write_text(f'{{"id": "c1", "question": "List them.", "response": "{lines}"}}\n')
    settings = RunSettings.of(run_id="r", store_url=f"sqlite:///{tmp_path / 'jury.db'}")
    planned = RunPlan(
        settings.files([str(cases)]), settings, loaded=LoadedPanel(a_panel_of(READERS[0], READERS[2])), environ={}
    )

    assert Exit.DONE == dry_run(planned, as_json=False)
    said = capsys.readouterr().out
    dry_run(planned, as_json=True)
    data = json.loads(capsys.readouterr().out)

    parts = data["fit"]["seats"][0]["most_parts"]
    assert parts > 1
    assert f"Not read whole, of 1 case: 1 in {parts} parts by small." in said
    (small,) = data["reading"]
    assert ("small", parts + 1) == (small["juror_id"], small["calls"]["least"])
    assert "  small takes {least} - {likely} - {most} calls, ".format(**small["calls"]) in said
