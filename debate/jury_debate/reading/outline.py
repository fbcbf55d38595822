"""What stands for a record that is not shown whole: its outline, its guide, and the items that a seat cited."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from jury_debate.prompts_1.texts import ReadingTexts, Texts, fill
from jury_debate.reading.shown_record import SMALLEST_PART, PlacedItem, ShownRecord, cuts

_NUMBER = re.compile(r"(?:\[[0-9]{1,7}\] |【[0-9]{1,7}】)")
_WORDS = 60
"""Characters of an item's beginning."""

_FEW_WORDS = 30
_BEGINNING = 2_000
"""Bytes of an item in which its first words are looked for."""

_LINE = 240
"""Bytes that a line of several items takes, about."""

_KINDS = 4
"""Of a span that are named, the most frequent first."""


class RecordOutline:
    """The lines of one record, of which outlines of several sizes are made."""

    def __init__(self, record: ShownRecord, texts: ReadingTexts) -> None:
        self._record = record
        self._texts = texts
        self._kinds = [_NUMBER.sub("", item.heading, count=1) for item in record.items]
        self._until = [0, *accumulate(record.lengths)]

    def text(self, most: int) -> str:
        """Its heading and lines, of about `most` bytes: one line an item where that is enough, else one a span."""
        heading = fill(self._texts.outline, items=len(self._record.items))
        lines = list(self._item_lines(most))
        if len(lines) < len(self._record.items):
            lines = list(self._span_lines(max(1, most // _LINE)))
        return "\n".join([heading, *lines])

    def _item_lines(self, most: int) -> Iterator[str]:
        """The lines of the first items, as many as there is room for."""
        size = 0
        for place, item in enumerate(self._record.items):
            line = self._marked(
                fill(
                    self._texts.outline_item,
                    number=item.number,
                    what=self._kinds[place],
                    characters=self._record.lengths[place],
                    words=self._words(item, _WORDS),
                )
            )
            size += len(line.encode()) + 1
            if size > most:
                return
            yield line

    def _span_lines(self, lines: int) -> Iterator[str]:
        items = self._record.items
        each = -(-len(items) // lines)
        for first in range(0, len(items), each):
            span = items[first : first + each]
            yield self._marked(
                fill(
                    self._texts.outline_span,
                    first=span[0].number,
                    last=span[-1].number,
                    kinds=self._named_kinds(self._kinds[first : first + each]),
                    characters=self._until[first + len(span)] - self._until[first],
                    words=self._words(span[0], _FEW_WORDS),
                )
            )

    def _named_kinds(self, kinds: Sequence[str]) -> str:
        counted = Counter(kinds).most_common(_KINDS)
        return ", ".join(fill(self._texts.outline_kind, count=count, what=kind) for kind, count in counted)

    def _words(self, item: PlacedItem, most: int) -> str:
        beginning = self._record.content[item.start : min(item.end, item.start + _BEGINNING)].decode("utf-8", "ignore")
        prefix = self._record.prefix.decode()
        lines = (line.removeprefix(prefix).strip() for line in beginning.split("\n") if line.startswith(prefix))
        words = " ".join(" ".join(lines).split())
        return words if len(words) <= most else f"{words[:most].rstrip()}…"

    def _marked(self, line: str) -> str:
        return f"{self._record.prefix.decode()}{line}"


def guide(record: ShownRecord, outline: RecordOutline, texts: Texts, most: int) -> str:
    """The text, which begins as the record does, and ends with an empty line.

    Args:
        record: the case as shown.
        most: bytes, about; half of them are for the outline.
    """
    first = record.content.find(b"\n\n")
    opening = record.content[: len(record.content) if first < 0 else first].decode("utf-8", "replace")
    named = named_items(record, texts)
    room = most // 2 // max(1, len(named))
    shown = [f"{one.line}\n{excerpt(record, one.item, texts, room).text}".lstrip("\n") for one in named]
    blocks = [opening, texts.reading.notice, *shown, outline.text(most // 2)]
    return "\n\n".join(blocks) + "\n\n"


class NamedItem(NamedTuple):
    """A request or a final response; `line` is the prompt's own that says so, "" where the item's heading does."""

    line: str
    item: PlacedItem


def named_items(record: ShownRecord, texts: Texts) -> tuple[NamedItem, ...]:
    """The requests and the final responses of all scenarios, in their order: the prompt's own lines name them."""
    case = texts.case
    forms = (_form(one, what) for what in (case.question, case.response) for one in (case.item, case.same_as))
    own = re.compile(f"^(?:{'|'.join(forms)})$".encode(), re.MULTILINE)
    found: list[NamedItem] = []
    for match in own.finditer(record.content):
        item = record.item(int(next(filter(None, match.groups()))))
        if item is not None:
            line = match[0].decode("utf-8")
            found.append(NamedItem("" if line == item.heading else line, item))
    return tuple(found)


def _form(line: str, what: str) -> str:
    return re.escape(fill(line, number="NUMBER", what=what)).replace("NUMBER", "([0-9]{1,7})")


class ItemExcerpt(NamedTuple):
    """An item as far as it is shown, and the byte of the record at which that ends; all of it: the item's end."""

    text: str
    end: int


def excerpt(record: ShownRecord, item: PlacedItem, texts: Texts, most: int) -> ItemExcerpt:
    """An item exactly as shown, or its beginning of at most `most` bytes, which says that it goes on."""
    stop = _end(record, item)
    if stop - item.start <= most:
        return ItemExcerpt(record.content[item.start : stop].decode("utf-8"), item.end)
    ends = cuts(record, max(most, SMALLEST_PART), item.start, stop)
    if not ends:
        return ItemExcerpt(record.content[item.start : stop].decode("utf-8"), item.end)
    shown = record.content[item.start : ends[0]].decode("utf-8").rstrip("\n")
    return ItemExcerpt(f"{shown}\n{texts.reading.shown_cut}", ends[0])


def _end(record: ShownRecord, item: PlacedItem) -> int:
    """Where the last line of an item ends, without the lines of the prompt behind it."""
    last = record.content.rfind(b"\n" + record.prefix, item.start, item.end)
    stop = record.content.find(b"\n", last + 1 if last >= 0 else item.start, item.end)
    return item.end if stop < 0 else stop


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
