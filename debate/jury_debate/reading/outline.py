"""The outline of a record: a line for each item, or for spans of items where there are many; every line is marked."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from jury_debate.prompts_1.texts import ReadingTexts, fill
from jury_debate.reading.shown_record import PlacedItem, ShownRecord

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
        """The beginning of its judged text, on one line, as it is shown."""
        beginning = self._record.content[item.start : min(item.end, item.start + _BEGINNING)].decode("utf-8", "ignore")
        prefix = self._record.prefix.decode()
        lines = (line.removeprefix(prefix).strip() for line in beginning.split("\n") if line.startswith(prefix))
        words = " ".join(" ".join(lines).split())
        return words if len(words) <= most else f"{words[:most].rstrip()}…"

    def _marked(self, line: str) -> str:
        return f"{self._record.prefix.decode()}{line}"
