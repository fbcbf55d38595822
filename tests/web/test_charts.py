"""The geometry of charts fits their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from jury_judge.web.charts import WIDTH, columns, growing_line, stacked_bar


def test_segments_are_proportional_to_the_counts():
    assert [("a", 1, 0.25, 0.0, 150.0), ("c", 3, 0.75, 150.0, 450.0)] == list(stacked_bar({"a": 1, "b": 0, "c": 3}))


def test_zero_counts_make_no_segments():
    assert () == stacked_bar({"a": 0})


@given(st.dictionaries(st.text(max_size=5), st.integers(0, 10**9), max_size=8))
def test_a_bar_stays_within_the_chart(counts):
    for one in stacked_bar(counts):
        assert one.x >= 0
        assert one.x + one.width <= WIDTH + 0.02


def test_the_highest_column_fills_the_chart_and_its_marked_part_is_at_the_bottom():
    chart = columns([("1", 4.0, 1.0), ("2", 2.0, 2.0)], height=100.0)

    assert [(0.0, 100.0, 75.0, 25.0), (50.0, 50.0, 50.0, 50.0)] == [
        (one.y, one.height, one.marked_y, one.marked_height) for one in chart.columns
    ]


def test_columns_of_zeros_have_no_height():
    assert [0.0, 0.0] == [one.height for one in columns([("1", 0.0, 0.0), ("2", 0.0, 0.0)]).columns]


def test_a_line_ends_at_the_total():
    line = growing_line([1.0, 2.0, 1.0], height=100.0)

    assert "0.00,100.00 200.00,75.00 400.00,25.00 600.00,0.00" == line.points
    assert 4.0 == line.most


def test_a_long_line_is_reduced_and_keeps_its_last_point():
    points = growing_line([1.0] * 100_000).points.split()

    assert len(points) <= 302
    assert "600.00,0.00" == points[-1]
