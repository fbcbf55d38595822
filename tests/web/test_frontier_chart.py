"""The chart of a frontier: what is drawn corresponds to the values on its axes."""

import re

import pytest

from jury_analysis import CostFrontier, Estimate, FrontierPoint, Interval, Measure
from jury_events import Verdict
from jury_judge import computed_page
from jury_views import FrontierChart, frontier_chart
from support.debate_builder import DebateBuilder
from support.pages import Site, stored


def point(value: float, seats: int, *, rounds: int = 0, cost: float | None = None, calls: float | None = None):
    interval = Interval(max(0.0, value - 0.1), min(1.0, value + 0.05), "wilson", 40)
    names = tuple(f"s{number}" for number in range(seats))
    return FrontierPoint(names, rounds, Estimate(value, interval, 40), 1.0, cost, calls, None, 0, on_frontier=True)


def chart_of(measure: Measure | None, *points: FrontierPoint) -> FrontierChart:
    return frontier_chart(CostFrontier("accuracy", measure, 40, len(points), False, points), points)


def read(chart: FrontierChart) -> list[tuple[float, float]]:
    """Price and value of each choice, read from the axes as a person does: between two ticks."""
    (left, x0), (right, x1) = chart.prices[0], chart.prices[-1]
    (bottom, y0), (top, y1) = chart.values[0], chart.values[-1]
    return [
        (left + (one.x - x0) / (x1 - x0) * (right - left), bottom + (one.y - y0) / (y1 - y0) * (top - bottom))
        for one in chart.choices
    ]


def test_a_choice_is_where_the_axes_say() -> None:
    for scale in (0.0001, 0.013, 1.0, 730.0):
        chart = chart_of("cost", *(point(0.5 + 0.1 * n, n, cost=scale * n) for n in (1, 2, 4)))
        expected = [(scale * n, 0.5 + 0.1 * n) for n in (1, 2, 4)]

        assert [pytest.approx(pair, rel=1e-3) for pair in expected] == read(chart)
    assert [(0.0, 0.5)] == read(chart_of("cost", point(0.5, 1, cost=0.0))), "what costs nothing is at the origin"
    of_votes = chart_of(None, point(0.5, 3), point(0.6, 3, rounds=1))
    assert [(3.0, pytest.approx(0.5, rel=1e-3)), (6.0, pytest.approx(0.6, rel=1e-3))] == read(of_votes)


def test_the_ticks_of_a_price_are_equally_far_apart_and_reach_the_dearest_choice() -> None:
    chart = chart_of("calls", point(0.5, 1, calls=3.2), point(0.8, 3, calls=17.4))

    assert [(0.0, 0.0), (5.0, 125.0), (10.0, 250.0), (15.0, 375.0), (20.0, 500.0)] == list(chart.prices)


def test_the_ends_of_an_interval_are_on_the_same_axis() -> None:
    (choice,) = chart_of("cost", point(0.5, 1, cost=1.0)).choices

    assert (110.0, 132.0, 99.0) == (choice.y, choice.low, choice.high)


def test_the_page_draws_the_numbers_of_the_report() -> None:
    """Of a recorded run: each dot, read from the ticks that the page draws, is a row of the table beside it."""
    store = stored(
        *(
            DebateBuilder()
            .phase_1()
            .round_1()
            .judged()
            .opened_as(
                simulated=False,
                debate_id=f"a~c{number:02}",
                run_id="a",
                case_id=f"c{number:02}",
                label=Verdict.UNSAFE_FAIL if number % 3 else Verdict.SAFE_PASS,
            )
            for number in range(12)
        )
    )
    report = computed_page(store, "a", simulated=False).worth
    assert report is not None
    shown = [one for one in report.frontier.points if one.on_frontier]
    svg = Site(store).get("/runs/a/stats").tree.css_first("svg.frontier-chart")
    dots = [(float(one.attributes["cx"]), float(one.attributes["cy"])) for one in svg.css("circle")]
    ticks = [one.text() for one in svg.css("text.tick")]
    prices = [
        (float(re.sub("[^0-9.]", "", one.text())), float(one.attributes["x"]))
        for one in svg.css("text.tick[text-anchor=middle]")
    ]
    values = [
        (float(one.text().rstrip("%")) / 100, float(one.attributes["y"]) - 4)
        for one in svg.css("text.tick[text-anchor=end]")
        if one.text().endswith("%")
    ]

    read = [
        (x * prices[-1][0] / prices[-1][1], values[0][0] + (y - values[0][1]) / (values[-1][1] - values[0][1]))
        for x, y in dots
    ]

    assert "right" in ticks
    assert len(shown) == len(dots) > 0
    chosen = [(one.calls if report.frontier.measure == "calls" else one.cost, one.value.value) for one in shown]
    if report.frontier.measure is None:
        chosen = [(float(len(one.seats) * (one.rounds + 1)), one.value.value) for one in shown]
    assert [pytest.approx(pair, abs=0.005) for pair in chosen] == read
