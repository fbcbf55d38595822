"""Cases that are longer than the windows of a panel's models are named before the first call."""

import pytest

from jury_events import Case
from jury_judge import CaseFit, Run, preflight
from jury_providers import Endpoint
from jury_store import MemoryEventStore
from support.debate_harness import a_case
from support.pictures import a_case_with_pictures, a_png
from support.runtime_harness import a_resolved

OWN = Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1", window=20_000)
SEATS = [
    {"model": "own/small", "juror_id": "small", "fallbacks": []},
    {"model": "openai/gpt-4o", "juror_id": "large", "fallbacks": []},
    {"model": "simulated/juror", "juror_id": "unknown", "fallbacks": []},
]
SMALL_AND_LARGE = {"own": OWN}


def a_long_case(case_id: str, kilobytes: int) -> Case:
    return a_case(case_id).changed(artifact_summary="All orders were refunded. " * (40 * kilobytes))


def a_fit(*cases: Case, prompts: int = 1, judge: str | None = None, **settings: object) -> CaseFit:
    final = {"method": "majority_vote"} if judge is None else {"judge": {"model": judge, "fallbacks": []}}
    resolved = a_resolved(seats=SEATS, final=final, settings=settings)._replace(prompts=prompts)
    fit = CaseFit(resolved, SMALL_AND_LARGE)
    for case in cases:
        fit.add(case)
    return fit


@pytest.mark.parametrize("prompts", [1, 2])
def test_cases_that_are_longer_than_a_window_are_counted_by_seat(prompts):
    fit = a_fit(a_case("short"), a_long_case("longer", 100), a_long_case("longest", 800), prompts=prompts)

    assert [
        ("small", 20_000, 2, ["longer", "longest"]),
        ("large", 128_000, 1, ["longest"]),
        ("unknown", None, 0, []),
    ] == [(seat.juror_id, seat.window, seat.too_long, seat.first_ids) for seat in fit.seats]


def test_one_line_names_the_seats_and_their_first_cases_and_none_where_every_case_fits():
    fit = a_fit(*(a_long_case(f"c{number}", 100) for number in range(5)), a_case("short"))

    (line,) = fit.lines()
    assert line == (
        "longer than the window of a model, whose calls would fail (context_too_long), of 6 cases: "
        "5 for small (20,000 tokens: c0, c1, c2 …)"
    )
    assert [] == [*a_fit(a_case("short")).lines()]


def test_the_final_judge_is_compared_too():
    fit = a_fit(a_long_case("long", 100), judge="own/judge")

    assert [("small", 1), ("the final judge", 1)] == [(seat.name, seat.too_long) for seat in fit.seats if seat.too_long]


def test_room_is_left_for_the_answer():
    case = a_long_case("c", 40)

    assert [0] == [seat.too_long for seat in a_fit(case, max_output_tokens=100).seats if seat.name == "small"]
    assert [1] == [seat.too_long for seat in a_fit(case, max_output_tokens=16_000).seats if seat.name == "small"]


def test_pictures_count_where_a_seat_sees_them():
    """A picture is counted as 5,000 tokens."""
    seeing = [{**SEATS[0], "images": sees, "juror_id": name} for name, sees in (("sees", True), ("blind", False))]
    resolved = a_resolved(seats=seeing, final={"method": "majority_vote"}, settings={"max_output_tokens": 100})
    fit = CaseFit(resolved, SMALL_AND_LARGE)
    fit.add(a_case_with_pictures(*map(a_png, range(4))))

    assert {"sees": 1, "blind": 0} == {seat.name: seat.too_long for seat in fit.seats}


def test_a_preflight_compares_the_cases_that_it_reads():
    run = Run(
        run_id="r1",
        resolved=a_resolved(seats=SEATS, final={"method": "majority_vote"}),
        cases=lambda _fetch: iter((a_case("short"), a_long_case("long", 100))),
        concurrency=1,
    )

    checked = preflight(run, MemoryEventStore(), seconds=None, endpoints=SMALL_AND_LARGE)

    assert (2, ["long"]) == (checked.fit.cases, checked.fit.seats[0].first_ids)
