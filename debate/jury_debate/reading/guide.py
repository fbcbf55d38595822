"""What all calls show of a record that is not shown whole: the request, the final response, and the outline."""

import re
from typing import NamedTuple

from jury_debate.prompts_1.texts import Texts, fill
from jury_debate.reading.cutting import SMALLEST_PART, cuts
from jury_debate.reading.outline import RecordOutline
from jury_debate.reading.shown_record import PlacedItem, ShownRecord


def guide(record: ShownRecord, outline: RecordOutline, texts: Texts, most: int) -> str:
    """The text, which begins as the record does, and ends with an empty line.

    Args:
        record: the case as shown.
        outline: of the record.
        texts: of the prompts.
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
    """The regular expression of a line that names an item."""
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
