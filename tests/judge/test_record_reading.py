"""How much of a record was read, in words: rounded down, but something read is not nothing."""

import pytest

from jury_events.reading import RecordRead
from jury_views.debate_labels import LABELS
from jury_views.record_reading import reading_lines


@pytest.mark.parametrize(
    ("characters", "shown"),
    [(100_000, "(100 %)"), (99_999, "(99 %)"), (1_000, "(1 %)"), (999, "(<1 %)"), (1, "(<1 %)"), (0, "(0 %)")],
)
def test_a_share_of_the_record_is_rounded_down_and_a_small_one_is_not_nothing(characters: int, shown: str) -> None:
    read = RecordRead(
        mode="tools", parts=1, items_read=3, items_total=9, characters_read=characters, characters_total=100_000
    )
    first, *_ = reading_lines(read, None, LABELS["en"])

    assert f"read 3 of 9 items by tools {shown}" == first
