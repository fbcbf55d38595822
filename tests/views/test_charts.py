"""The geometry of charts fits their numbers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from jury_analysis import Estimate, Interval, ReliabilityBin, missing
from jury_views import WIDTH, columns, dot_plot, growing_line, heat_map, reliability_chart, stacked_bar


def test_segments_are_proportional_to_the_counts_and_zeros_make_none():
    assert [("a", 1, 0.25, 0.0, 150.0), ("c", 3, 0.75, 150.0, 450.0)] == list(stacked_bar({"a": 1, "b": 0, "c": 3}))
    assert () == stacked_bar({"a": 0})


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10**9)))
@settings(max_examples=50)
def test_a_bar_stays_within_the_chart(counts):
    for one in stacked_bar(counts):
        assert one.x >= 0
        assert one.x + one.width <= WIDTH + 0.02


def test_the_highest_column_fills_the_chart_and_its_marked_part_is_at_the_bottom():
    chart = columns([("1", 4.0, 1.0), ("2", 2.0, 2.0)], height=100.0)
    zeros = columns([("1", 0.0, 0.0), ("2", 0.0, 0.0)])

    assert [(0.0, 100.0, 75.0, 25.0), (50.0, 50.0, 50.0, 50.0)] == [
        (one.y, one.height, one.marked_y, one.marked_height) for one in chart.columns
    ]
    assert [0.0, 0.0] == [one.height for one in zeros.columns]


def test_a_line_ends_at_the_total_and_a_long_one_is_reduced():
    line, long = growing_line([1.0, 2.0, 1.0], height=100.0), growing_line([1.0] * 100_000).points.split()

    assert ("0.00,100.00 200.00,75.00 400.00,25.00 600.00,0.00", 4.0) == (line.points, line.most)
    assert len(long) <= 302
    assert "600.00,0.00" == long[-1]


def test_a_cell_is_darker_the_larger_its_value_and_an_empty_one_has_no_colour():
    chart = heat_map(
        [[(0.0, "a"), (1.0, "b")], [(None, ""), (0.5, "c")]], ["x", "y"], ["1", "2"], left=100.0, tall=20.0
    )
    low, high, empty, middle = chart.cells

    assert high.strength > middle.strength > low.strength > empty.strength == 0
    assert [(100.0, 20.0), (350.0, 20.0), (100.0, 40.0), (350.0, 40.0)] == [(one.x, one.y) for one in chart.cells]
    assert ((("x", 30.0), ("y", 50.0)), 60.0) == (chart.rows, chart.height)


def test_a_point_of_the_reliability_curve_is_at_its_mean_confidence():
    rate = Estimate(0.25, Interval(0.1, 0.5, "wilson", 40), 40)
    empty = ReliabilityBin(0.0, 0.5, 0, 0, None, missing("no unit has such a confidence"))
    chart = reliability_chart([empty, ReliabilityBin(0.5, 1.0, 40, 10, 0.75, rate)], size=100.0)

    assert [(75.0, 75.0, 90.0, 50.0)] == list(chart.points)
    assert [(50.0, 40)] == [(x, number) for x, _, _, number in chart.counts]


def test_dots_and_whiskers_stay_within_the_chart_and_what_is_unknown_has_none():
    known, unknown = dot_plot([("a", Estimate(0.5, None, 3)), ("b", missing("no label"))]).dots
    (dot,) = dot_plot([("a", Estimate(1.0, Interval(0.0, 1.0, "wilson", 9), 9))]).dots

    assert (True, None, None) == (known.x is not None, known.low, unknown.x)
    assert 0 < dot.low < dot.x == dot.high < WIDTH
