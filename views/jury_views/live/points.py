"""The ids of live events, from which a reader resumes.

The live event of the log event at position 17 is `17`. If there are several, those before the last are `17.0`, `17.1`
…; chunks that the final judge writes after it, which are not in the log, are `17~1`, `17~2` ….
"""

import re
from typing import NamedTuple

from jury_events.text import visible_line
from jury_views.errors import BadPoint

_WHOLE = 2**31
_PIECE, _CHUNK = 0, 1
_FORM = re.compile(r"([0-9]{1,18})(?:([.~])([0-9]{1,9}))?", re.ASCII)


class Point(NamedTuple):
    """Ordered as the live events. Made by the functions below."""

    position: int
    kind: int = _PIECE
    number: int = _WHOLE

    def __str__(self) -> str:
        if self.kind == _CHUNK:
            return f"{self.position}~{self.number}"
        return str(self.position) if self.number == _WHOLE else f"{self.position}.{self.number}"


START = Point(0)
"""Before every live event."""


def pieces(position: int, count: int) -> list[Point]:
    """The points of the `count` live events of one log event."""
    return [Point(position, _PIECE, number if number < count - 1 else _WHOLE) for number in range(count)]


def chunk_point(position: int, number: int) -> Point:
    """The point of the `number`th chunk of the final judge's answer after the log event at `position`."""
    return Point(position, _CHUNK, number)


def parse_point(text: str) -> Point:
    """The inverse of `str`.

    Raises:
        BadPoint: it is not a point.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise BadPoint(
            f"{visible_line(text, 60)!r} is not the id of a live event; send that of the last event received, as 17"
        )
    position, mark, number = found.groups()
    if mark is None:
        return Point(int(position))
    return Point(int(position), _CHUNK if mark == "~" else _PIECE, int(number))
