"""What is said of cases that are longer than a seat's window, before the first call, is what debates then do."""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from jury_actors import Ceiling, in_process_runtime
from jury_cli.dry_run import dry_run
from jury_cli.exits import Exit
from jury_debate import PanelSpec, ResolvedPanel, resolve
from jury_events import Case
from jury_judge import CaseFit, LoadedPanel, PlannedRun, RunSettings, estimate
from jury_judge.runs.rehearsal import Rehearsal
from jury_providers import Price, Prices
from support.long_records import WINDOW, a_long_case
from support.pictures import a_case_with_pictures
from support.runtime_harness import KeptStore, Run, completed

TODAY = date(2026, 11, 25)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
SEATS = [
    {"model": "simulated/juror", "juror_id": "small", "window": WINDOW},
    {"model": "simulated/juror", "juror_id": "middle", "window": 2 * WINDOW},
    {"model": "simulated/juror", "juror_id": "large", "window": 1_000_000},
]


def a_panel_of(*seats: dict[str, Any], **spec: object) -> ResolvedPanel:
    written = {"seats": seats or SEATS, "final": {"method": "majority_vote"}, "preset": "independent", **spec}
    return resolve(PanelSpec.model_validate(written))


def a_fit(resolved: ResolvedPanel, *cases: Case) -> CaseFit:
    fit = CaseFit(resolved)
    for case in cases:
        fit.add(case)
    return fit


async def asked(resolved: ResolvedPanel, case: Case) -> Counter[str]:
    """The calls of a debate, by step."""
    run = Run(KeptStore())
    run.resolved, run.prompts, run.cases = resolved, 2, {"d0": case}
    assert completed((await run.execute()).values())
    return Counter("/".join(exchange.split("/")[:2]) for exchange in run.exchange_ids("d0"))


async def test_the_parts_that_are_announced_are_those_that_are_read() -> None:
    resolved, case = a_panel_of(), a_long_case(40)
    small, middle, large = a_fit(resolved, case).seats

    found = await asked(resolved, case)

    # One call a part, and the one that closes.
    assert {"initial/small": 1 + max(small.parts), "initial/middle": 1 + max(middle.parts), "initial/large": 1} == found
    assert max(small.parts) > max(middle.parts) > 1
    assert (0, 0) == (large.not_whole, large.too_long)


def test_lines_and_data_say_how_cases_are_read() -> None:
    fit = a_fit(a_panel_of(), a_long_case(2), a_long_case(40), a_long_case(80))
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


def test_what_is_sent_whole_all_the_same_is_too_long() -> None:
    fit = a_fit(a_panel_of({**SEATS[0], "reading": "whole"}), a_long_case(24))

    assert (1, 0) == (fit.seats[0].too_long, fit.seats[0].not_whole)


def test_tools_and_the_final_judge_are_shown_an_outline() -> None:
    judge = {"method": "final_judge", "judge": {"model": "simulated/judge", "window": WINDOW}}
    fit = a_fit(a_panel_of({**SEATS[2], "reading": "tools"}, final=judge), a_long_case(12))
    (line,) = fit.lines()

    assert line == "not read whole, of 1 case: 1 from an outline by large, 1 from an outline by the final judge"


def test_a_case_that_fits_anyway_is_read_in_parts_where_the_panel_says_so() -> None:
    (seat,) = a_fit(a_panel_of({**SEATS[2], "reading": "windows"}), a_long_case(1)).seats

    assert 1 == seat.not_whole


@pytest.mark.parametrize("spec", [{}, {"preset": "parallel-rounds", "discussion": {"max_rounds": 2}}], ids=str)
async def test_a_debate_takes_what_was_estimated(spec: dict[str, Any]) -> None:
    resolved, case = a_panel_of(**spec), a_long_case(40)
    found = estimate(resolved, [case], debates=1, prices=PRICES, endpoints={}, on=TODAY)
    steps = await asked(resolved, case)

    assert found.calls.least <= steps.total() <= found.calls.most
    assert ["small", "middle"] == [one.juror_id for one in found.reading]
    for one in found.reading:
        assert one.calls.least <= steps[f"initial/{one.juror_id}"] <= one.calls.most


def test_an_estimate_of_tools_is_bounded_by_their_turns() -> None:
    resolved = a_panel_of({**SEATS[0], "reading": "tools"})
    (found,) = estimate(resolved, [a_long_case(12)], debates=1, prices=PRICES, endpoints={}, on=TODAY).reading

    assert (1, 11, 41) == found.calls


def test_reading_in_parts_costs_more_than_reading_whole_and_is_part_of_the_sum() -> None:
    seat = {"model": "openai/gpt-x", "juror_id": "a", "window": 20_000}
    whole, parts = (
        estimate(
            a_panel_of({**seat, "reading": reading}),
            [a_long_case(24)],
            debates=3,
            prices=PRICES,
            endpoints={},
            on=TODAY,
        )
        for reading in ("whole", "windows")
    )
    (reading,) = parts.reading

    assert () == whole.reading
    assert whole.cost is not None
    assert parts.cost is not None
    assert parts.cost == reading.cost
    assert all(less < more for less, more in zip(whole.cost, parts.cost, strict=True))
    assert (3, parts.calls) == (reading.debates, reading.calls)


async def test_calls_of_a_step_that_are_made_at_once_stay_within_a_budget() -> None:
    resolved, case = a_panel_of(SEATS[0]), a_long_case(12)
    run = Run(KeptStore())
    run.resolved, run.prompts, run.cases = resolved, 2, {"d0": case}
    bounded = run.plan()._replace(ceiling=Ceiling(max_calls=4))
    async with in_process_runtime(bounded, lambda: run.store) as runtime:
        stopped = await run.execute_in(runtime)
    before = run.exchange_ids("d0")
    whole = await run.execute()

    assert "budget of 4 calls" in str(stopped["d0"].problem)
    assert 4 == len(before)
    assert completed(whole.values())
    assert before == run.exchange_ids("d0")[:4]


@pytest.mark.parametrize("images", [False, True])
def test_a_case_that_is_cut_is_shown_whole_before_a_run(images: bool) -> None:
    seen = a_case_with_pictures()
    case = seen.changed(scenarios=(*a_long_case(12).scenarios, seen.scenarios[0].changed(scenario_id="s2")))
    sighted = [{**seat, "images": True} for seat in SEATS]
    judge = {"method": "final_judge", "judge": {"model": "simulated/judge", "images": images}}
    cut, whole = (
        Rehearsal(case, a_panel_of(*({**seat, "window": window or seat["window"]} for seat in sighted), final=judge))
        for window in (None, 10_000_000)
    )

    assert whole.opened.reading is None
    assert cut.opened.reading is not None
    assert whole.case_piece(images=images) == cut.case_piece(images=images)
    assert len(cut.final_prompt(images=images)) < len(whole.final_prompt(images=images))


def test_what_equal_seats_share_ends_with_the_part() -> None:
    equal = [{"model": "simulated/juror", "juror_id": name, "window": WINDOW} for name in "ab"]
    rehearsal = Rehearsal(a_long_case(30), a_panel_of(*equal))
    first, second = (
        "".join(message.text for message in rehearsal.first_prompt(juror_id)).encode() for juror_id in "ab"
    )
    (shared,) = {rehearsal.first_sizes(juror_id)[0].shared for juror_id in "ab"}
    parts = len(rehearsal.first_sizes("a"))

    assert first[:shared] == second[:shared]
    assert first[:shared].endswith(f"## End of part 1 of {parts}\n\n".encode())
    assert first[shared : shared + 200] != second[shared : shared + 200]


def test_a_dry_run_says_what_reading_in_parts_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\\n".join(f"file-{number}.txt" for number in range(2_000))
    cases = tmp_path / "cases.jsonl"
    cases.write_text(f'{{"id": "c1", "question": "List them.", "response": "{lines}"}}\n')
    settings = RunSettings.of(run_id="r", store_url=f"sqlite:///{tmp_path / 'jury.db'}")
    planned = PlannedRun(
        settings.files([str(cases)]), settings, loaded=LoadedPanel(a_panel_of(SEATS[0], SEATS[2])), environ={}
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
