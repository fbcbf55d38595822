"""The block of the prompt with one part of the record: what is said before it, and behind it.

Judged text never stands unmarked: a part that begins inside a line begins with a fresh marker.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.prompts_1.texts import Texts, fill
from jury_debate.reading.shown_record import ShownRecord


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
        start: of the part.
        end: of the part.
        texts: of the prompts.
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
    """The lines right below an item's heading that say who it comes from."""
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
