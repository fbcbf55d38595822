"""Places in what a debate tells, as readers keep them to go on from there.

The log event at position 17 is told as `17`. Where it gives several live events, those before the last are `17.0`,
`17.1` …; what the final judge writes after it, which is not in the log, is `17~1`, `17~2` ….
"""

import re
from typing import NamedTuple

from jury_judge.errors import BadPoint
from jury_judge.text.visible_text import visible_line

_WHOLE = 2**31
_PIECE, _CHUNK = 0, 1
_FORM = re.compile(r"([0-9]{1,18})(?:([.~])([0-9]{1,9}))?", re.ASCII)


class Point(NamedTuple):
    """Ordered as they are told. Made by the functions below."""

    position: int
    kind: int = _PIECE
    number: int = _WHOLE

    def __str__(self) -> str:
        if self.kind == _CHUNK:
            return f"{self.position}~{self.number}"
        return str(self.position) if self.number == _WHOLE else f"{self.position}.{self.number}"


START = Point(0)
"""Before everything."""


def pieces(position: int, count: int) -> list[Point]:
    """The places of the `count` live events that one log event gives."""
    return [Point(position, _PIECE, number if number < count - 1 else _WHOLE) for number in range(count)]


def chunk_point(position: int, number: int) -> Point:
    """The place of the `number`th piece of the final judge's answer after the log event at `position`."""
    return Point(position, _CHUNK, number)


def parse_point(text: str) -> Point:
    """The inverse of `str`.

    Raises:
        BadPoint: it is no place.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadPoint(
            f"{visible_line(text, 60)!r} is no place in a debate; send the id of the last event that came, as 17"
        )
    position, mark, number = found.groups()
    if mark is None:
        return Point(int(position))
    return Point(int(position), _CHUNK if mark == "~" else _PIECE, int(number))
