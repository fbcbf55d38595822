"""A difference between a record and its replay, as text."""

from collections.abc import Iterator

from jury_events.text.visible_text import visible_line
from jury_replay.difference import ReplayDifference

_WIDTH = 400
_MOST = 40
"""Lines of one difference that are shown."""


def difference_lines(difference: ReplayDifference) -> Iterator[str]:
    """Heading, then `-` recorded and `+` now; what cannot be seen is written out, what is too long is cut, said so."""
    lines = list(difference.lines())
    yield from (visible_line(line, _WIDTH) for line in lines[:_MOST])
    if len(lines) > _MOST:
        yield f"  … {len(lines) - _MOST} more lines"
