"""The items that pictures belong to, read from the record as shown, where no plan of the debate says it.

The line that numbers a picture is judged text. It is the last one of an attachment but for the attachment's content, so
that no name, no id of a call and no content that imitates it is taken for it.
"""

import re

from jury_debate.marking import unmark
from jury_debate.prompts_1.texts import CaseTexts, fill
from jury_debate.reading.shown_record import PlacedItem, ShownRecord


def picture_items(record: ShownRecord, texts: CaseTexts, pictures: int) -> tuple[int, ...]:
    """The number of the item of each picture, in their order; 0: of none. The first item that shows it counts.

    Args:
        record: the case as shown.
        texts: of the case, in the language of the prompts.
        pictures: how many are sent.
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
