"""Positions in a debate's live stream are ordered, written, and read back; anything else is refused."""

import pytest

from jury_views import START, BadPoint, Point, chunk_point, parse_point, pieces


def test_points_are_in_the_order_of_live_events() -> None:
    ordered = [START, *pieces(16, 1), *pieces(17, 3), chunk_point(17, 1), chunk_point(17, 10), *pieces(18, 1)]

    assert ["0", "16", "17.0", "17.1", "17", "17~1", "17~10", "18"] == [str(point) for point in ordered]
    assert ordered == sorted(ordered)


def test_a_place_is_read_as_it_is_written() -> None:
    for text in ("0", "17", "17.0", "17~4", "999999999999999999"):
        assert text == str(parse_point(text))


def test_a_whole_event_stands_after_each_of_its_pieces() -> None:
    assert parse_point("17.99") < parse_point("17") < parse_point("17~0")
    assert Point(17) == parse_point("17")


def test_anything_else_is_no_place() -> None:
    for text in (
        *("", "-1", "1.", "1.2.3", "1~", "a", "1 ", "１７", "1e3", "1" * 19, "1.1234567890", "\x00", "17\n"),
        "日" * 99,
    ):
        with pytest.raises(BadPoint, match="is not the id of a live event"):
            parse_point(text)
