"""The record as a seat is shown it: its items, their pictures, and the windows that it is cut into.

Every line of judged text begins with the debate's marker, so that lines without it are the prompt's own.

Laws. The parts, joined, are the record byte for byte: each character of each item is in exactly one of them. A cut is
between two items; where an item alone is too long, between two lines of it; where a line alone is too long, between two
characters of it, behind its marker. No cut is inside a written-out character, or before a mark that belongs to the
letter before. The time is linear in the record.

The line that numbers a picture is judged text. It is the last one of an attachment but for the attachment's content, so
that no name, no id of a call and no content that imitates it is taken for it.

Judged text never stands unmarked: a part that begins inside a line begins with a fresh marker.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from jury_debate.marking import unmark
from jury_debate.prompts_1.texts import CaseTexts, Texts, fill

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


def picture_items(record: ShownRecord, texts: CaseTexts, pictures: int) -> tuple[int, ...]:
    """The number of the item of each picture, in their order; 0: of none. The first item that shows it counts.

    Args:
        record: the case as shown.
        texts: of the case, in the language of the prompts.
    """
    line = fill(texts.picture, number="NUMBER", total="TOTAL", media_type="MEDIA", size="SIZE")
    form = re.escape(line).replace("NUMBER", "([0-9]{1,4})").replace("TOTAL", str(pictures))
    pattern = re.compile(form.replace("MEDIA", "image/[^ ,、]+").replace("SIZE", ".+"))
    heading = re.compile(
        re.escape(fill(texts.item, number="NUMBER", what=texts.attachment)).replace("NUMBER", "[0-9]+")
    )
    found: dict[int, int] = {}
    for item in record.items:
        if heading.fullmatch(item.heading) and (match := pattern.fullmatch(_file_line(record, item, texts))):
            found.setdefault(int(match[1]), item.number)
    return tuple(found.get(number, 0) for number in range(1, pictures + 1))


def _file_line(record: ShownRecord, item: PlacedItem, texts: CaseTexts) -> str:
    last = ""
    for line in record.content[item.start : item.end].decode("utf-8", "replace").split("\n"):
        if line == texts.content_label:
            break
        if line.startswith(record.prefix.decode()):
            last = line
    return unmark(last, record.marker) if last else ""


class WindowFrame(NamedTuple):
    """What stands before and behind the bytes of a part."""

    before: str
    behind: str


def window_frame(
    record: ShownRecord,
    start: int,
    end: int,
    texts: Texts,
    *,
    label: str,
    parts: int,
    pictures: Sequence[int] = (),
) -> WindowFrame:
    """The frame of bytes `start` to `end` of a record.

    Args:
        record: the case as shown.
        label: of the part: `3`, or `3.1` for a half of it.
        parts: how many there are, halves not counted.
        pictures: the numbers of the pictures that are sent with it.
    """
    reading, content = texts.reading, record.content
    lines = [fill(reading.part, part=label, parts=parts)]
    if pictures:
        lines.append(fill(reading.part_pictures, numbers=", ".join(map(str, pictures))))
    lines += [heading.line for heading in record.sections_at(start)]
    lines.append("")
    in_line = start > 0 and content[start - 1 : start] != b"\n"
    item = record.item_at(start)
    if item is not None and item.start < start:
        lines += [item.heading, reading.continued, *_authors(record, item.start, start, texts)]
    if in_line:
        lines.append(reading.in_a_line)
    before = "\n".join([*lines, record.prefix.decode() if in_line else ""])
    behind = "" if content[end - 1 : end] == b"\n" else "\n"
    last = record.item_at(end) if end < len(content) else None
    if last is not None and last.start < end:
        behind += f"{reading.goes_on}\n"
    behind += f"\n{fill(reading.part_end, part=label, parts=parts)}\n\n"
    return WindowFrame(before, behind)


def _authors(record: ShownRecord, item: int, end: int, texts: Texts) -> list[str]:
    case = texts.case
    known = {getattr(case, name) for name in type(case).model_fields if name.startswith("from_")}
    found: list[str] = []
    at = record.content.find(b"\n", item) + 1
    while 0 < at < end and not record.is_marked(at):
        stop = record.content.find(b"\n", at)
        line = record.content[at : stop if stop >= 0 else end].decode("utf-8", "replace")
        if line not in known:
            break
        found.append(line)
        at = stop + 1
    return found
