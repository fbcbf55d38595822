"""Items of a record, exactly as shown, as many as there is room for."""

from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.prompts_1.texts import Texts
from jury_debate.reading.cutting import SMALLEST_PART
from jury_debate.reading.guide import excerpt
from jury_debate.reading.shown_record import ShownRecord

_MOST_CITED = 48_000
"""Bytes of cited items where no window is known, and at most."""


def cited_bytes(room: int | None) -> int:
    """The bytes of cited items that a round or the final judge is shown at most; `room`: of a call, None: not known."""
    return min(_MOST_CITED, (room or _MOST_CITED) // 2)


class CitedItems(NamedTuple):
    """The items one after the other, "" where there are none, and the ranges of bytes that they show."""

    text: str
    ranges: tuple[tuple[int, int], ...]


def cited_items(record: ShownRecord, numbers: Sequence[int], texts: Texts, most: int) -> CitedItems:
    """The text of items.

    Args:
        record: the case as shown.
        numbers: of the items, the most important first; those that the record does not have are passed over.
        texts: of the prompts.
        most: bytes; each item has as much of it as all have, and says where it goes on.
    """
    items = [item for number in dict.fromkeys(numbers) if (item := record.item(number)) is not None]
    items = items[: max(1, most // SMALLEST_PART)]
    blocks: list[str] = []
    ranges: list[tuple[int, int]] = []
    left = most
    for place, item in enumerate(items):
        shown = excerpt(record, item, texts, left // (len(items) - place))
        blocks.append(shown.text)
        ranges.append((item.start, shown.end))
        left = max(0, left - len(shown.text.encode()))
    return CitedItems("\n\n".join(blocks), tuple(ranges))
