"""Lines of a list whose columns begin, or end, below each other: by the width of the characters on a terminal."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import category, east_asian_width

_WIDEST = 60
"""Columns of a terminal to which cells are filled up; a wider one moves what follows it in its line alone."""

_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})
"""Categories of characters that stand on the one before, or are not shown."""


class AlignedColumn(NamedTuple):
    """A column: `right` where its ends stand below each other, `gap` what parts it from the one before."""

    right: bool = False
    gap: str = "  "


class AlignedLines:
    """Makes lines of rows, some at a time; columns grow with the widest cell so far.

    Args:
        columns: of every row.
    """

    def __init__(self, columns: Sequence[AlignedColumn]) -> None:
        self._columns = columns
        self._widths = [0] * len(columns)

    def lines(self, rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """The rows as lines without trailing spaces."""
        for place in range(len(self._columns)):
            widest = max((display_width(row[place]) for row in rows), default=0)
            self._widths[place] = max(self._widths[place], min(widest, _WIDEST))
        for row in rows:
            yield "".join(self._filled(place, cell) for place, cell in enumerate(row)).rstrip()

    def _filled(self, place: int, cell: str) -> str:
        column, room = self._columns[place], " " * (self._widths[place] - display_width(cell))
        gap = column.gap if place and self._widths[place] else ""
        return f"{gap}{room}{cell}" if column.right else f"{gap}{cell}{room}"


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes: two a wide character, as most Japanese ones are (UAX #11)."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if category(character) in _WITHOUT_WIDTH:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
