"""The places of items and headings in the piece of the prompt with the case, read from its bytes.

Every line of judged text begins with the debate's marker, so that lines without it are the prompt's own.
"""

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

_OWN_LINE = re.compile(rb"^(?:\[([0-9]{1,7})\] |\xe3\x80\x90([0-9]{1,7})\xe3\x80\x91|(#{1,6}) )", re.MULTILINE)
"""The heading of an item, in both languages, or of a section."""


class PlacedItem(NamedTuple):
    """An item: bytes `start` (of its heading) to `end` of the record. `heading` is its first line, without its end."""

    number: int
    start: int
    end: int
    heading: str


class PlacedHeading(NamedTuple):
    """The heading of a section: where its line begins, how many # it has, and the line."""

    start: int
    level: int
    line: str


class ShownRecord:
    """The case as shown.

    Args:
        content: the piece of the prompt with the case, in UTF-8.
        marker: of the debate.
    """

    def __init__(self, content: bytes, marker: str) -> None:
        self.content = content
        self.marker = marker
        self.prefix = f"{marker} ".encode()
        items: list[PlacedItem] = []
        headings: list[PlacedHeading] = []
        found = list(_OWN_LINE.finditer(content))
        ends = [match.start() for match in found[1:]] + [len(content)] * bool(found)
        for match, end in zip(found, ends, strict=True):
            start = match.start()
            stop = content.find(b"\n", start)
            line = content[start : len(content) if stop < 0 else stop].decode("utf-8", "replace")
            if match[3] is not None:
                headings.append(PlacedHeading(start, len(match[3]), line))
            else:
                items.append(PlacedItem(int(match[1] or match[2]), start, end, line))
        self.items = tuple(items)
        self.headings = tuple(headings)

    @cached_property
    def lengths(self) -> list[int]:
        """The characters of each item as shown."""
        return [len(self.content[item.start : item.end].decode("utf-8", "replace")) for item in self.items]

    @cached_property
    def _starts(self) -> list[int]:
        return [item.start for item in self.items]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {item.number: place for place, item in enumerate(self.items)}

    def item(self, number: int) -> PlacedItem | None:
        """The item of a number; None where there is none."""
        place = self._places.get(number)
        return None if place is None else self.items[place]

    def item_at(self, at: int) -> PlacedItem | None:
        """The item that has the byte `at`; None where it belongs to none."""
        place = bisect_right(self._starts, at) - 1
        return self.items[place] if place >= 0 and at < self.items[place].end else None

    def items_in(self, start: int, end: int) -> tuple[PlacedItem, ...]:
        """The items of which bytes are among `start` to `end`, in order."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = bisect_right(self._starts, end - 1)
        return tuple(item for item in self.items[first:last] if item.end > start)

    def sections_at(self, at: int) -> tuple[PlacedHeading, ...]:
        """The headings of the sections that a byte stands in, the widest first, without the record's own."""
        open_sections: list[PlacedHeading] = []
        for heading in self.headings[1:]:
            if heading.start >= at:
                break
            while open_sections and open_sections[-1].level >= heading.level:
                open_sections.pop()
            open_sections.append(heading)
        return tuple(open_sections)

    def is_marked(self, at: int) -> bool:
        """Whether the line that begins at this byte is judged text."""
        return self.content.startswith(self.prefix, at)
