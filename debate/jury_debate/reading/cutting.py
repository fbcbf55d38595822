"""Cuts the record into parts of a size.

Laws. The parts, joined, are the record byte for byte: each character of each item is in exactly one of them. A cut is
between two items; where an item alone is too long, between two lines of it; where a line alone is too long, between two
characters of it, behind its marker. No cut is inside a written-out character, or before a mark that belongs to the
letter before. The time is linear in the record.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

from jury_debate.reading.shown_record import ShownRecord

SMALLEST_PART = 256
"""Bytes: a part of this size has room for a marker and some characters."""

_ESCAPE, _ESCAPE_END = "⟨".encode(), "⟩".encode()
_LONGEST_ESCAPE = 32
"""Bytes of a written-out character with its number."""

_FEW = 64
"""Bytes: of a line that is too long, less is left to the next part."""

_MOST_MARKS = 64
"""Bytes of marks on one letter that a cut respects; a longer pile of them is cut."""


def cuts(
    record: ShownRecord, most: int, start: int = 0, end: int | None = None, pictures: Sequence[tuple[int, int]] = ()
) -> tuple[int, ...]:
    """Where the record is cut, so that no part is longer than `most` bytes.

    Args:
        record: the case as shown.
        most: bytes of a part, at least `SMALLEST_PART`.
        start: of what is cut, a byte of the record.
        end: of what is cut; None: the record's end.
        pictures: places of pictures and the bytes that each counts as, in order: a part with them is shorter.

    Raises:
        ValueError: `most` is too small.
    """
    if most < SMALLEST_PART:
        raise ValueError(f"parts of {most} bytes: at least {SMALLEST_PART} are needed")
    end = len(record.content) if end is None else end
    starts = [item.start for item in record.items]
    places = [place for place, _ in pictures]
    found: list[int] = []
    at = start
    while True:
        seen = pictures[bisect_left(places, at) : bisect_left(places, at + most)] if pictures else ()
        room = max(SMALLEST_PART, most - sum(size for _, size in seen))
        if end - at <= room:
            return tuple(found)
        at = _cut(record, starts, at, at + room)
        found.append(at)


def middle(record: ShownRecord, start: int, end: int) -> int | None:
    """Where a part is halved: at most half of its bytes stand before; None where it is too small to be halved."""
    half = (end - start + 1) // 2
    if half < SMALLEST_PART:
        return None
    return _cut(record, [item.start for item in record.items_in(start, end)], start, start + half)


def refined(size: int, cut_sets: Iterable[Iterable[int]]) -> tuple[tuple[int, int], ...]:
    """The parts that result from all cuts of all sets: start and end of each, in bytes."""
    places = sorted({0, size, *(at for one in cut_sets for at in one)})
    return tuple(pairwise(places)) if size else ()


def _cut(record: ShownRecord, starts: list[int], at: int, limit: int) -> int:
    """The best place for a cut behind `at` and not behind `limit`, which is inside the record."""
    place = bisect_right(starts, limit) - 1
    if place >= 0 and starts[place] > at:
        return starts[place]
    line = record.content.rfind(b"\n", at, limit) + 1
    if line and (record.content.find(b"\n", limit, line + limit - at) >= 0 or limit - line <= _FEW):
        return line
    return _between_characters(record, max(at, line), limit)


def _between_characters(record: ShownRecord, at: int, limit: int) -> int:
    """A cut not behind `limit` in a line, of which all bytes from `at` to `limit` are; `at` may be in it."""
    content = record.content
    cut = limit
    while content[cut] & 0xC0 == 0x80:  # noqa: PLR2004  (a byte that continues a character of UTF-8)
        cut -= 1
    escape = content.rfind(_ESCAPE, max(at, cut - _LONGEST_ESCAPE), cut)
    if escape > at and content.find(_ESCAPE_END, escape, cut) < 0:
        cut = escape
    letter = cut
    least = max(at + len(record.prefix) + 1, cut - _MOST_MARKS)
    while letter > least and _is_mark(content, letter):
        letter -= 1
        while content[letter] & 0xC0 == 0x80:  # noqa: PLR2004
            letter -= 1
    return letter if letter > least else cut


def _is_mark(content: bytes, at: int) -> bool:
    """Whether the character at this byte belongs to the one before."""
    if content[at] < 0x80:  # noqa: PLR2004  (ASCII has none)
        return False
    char = content[at : at + 4].decode("utf-8", "ignore")[:1]
    return bool(char) and unicodedata.combining(char) != 0
