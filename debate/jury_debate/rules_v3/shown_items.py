"""The numbered items of a prompt, read from the text of the prompt itself: exactly what a seat was shown.

Judged text can produce no line without the sign, so that headings are the prompt's own.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from jury_debate.marking import unmark
from jury_debate.rules_v3.quotations import SearchedItems, SearchedText

_HEADING = re.compile(r"(?:\[([0-9]{1,7})\] |【([0-9]{1,7})】)")
"""Of an item, in both languages."""


def searched_items(case: bytes, policy: bytes | None, marker: str) -> SearchedItems:
    """The texts of the items of a prompt: of each its judged lines as recorded, joined by line breaks.

    Args:
        case: the piece of the prompt with the case.
        policy: the piece with the operator's policy, whose text is not marked.
        marker: of the debate.
    """
    items = [] if policy is None else list(_unmarked_items(policy.decode("utf-8", "replace")))
    return SearchedItems((*items, *_marked_items(case.decode("utf-8", "replace"), marker)))


@lru_cache(maxsize=8)
def shown_items(case: bytes, policy: bytes | None, marker: str) -> SearchedItems:
    """As `searched_items`, kept for the next step that shows the same."""
    return searched_items(case, policy, marker)


def said_text(blocks: tuple[bytes, ...], marker: str) -> SearchedText:
    """What a seat said, in all the blocks of it that were shown: their marked lines, joined by line breaks."""
    lines = [
        line for block in blocks for line in block.decode("utf-8", "replace").split("\n") if _is_marked(line, marker)
    ]
    return SearchedText(unmark("\n".join(lines), marker) if lines else "")


def undisplayed(quote: str, marker: str) -> str:
    """A quotation without what only the display adds: signs of lines and of gaps, hidden characters written out."""
    lines = quote.split("\n")
    marked = (line if _is_marked(line, marker) else f"{marker} {'' if line == marker else line}" for line in lines)
    return unmark("\n".join(marked), marker)


def _is_marked(line: str, marker: str) -> bool:
    return line.startswith(f"{marker} ")


def _marked_items(text: str, marker: str) -> Iterator[tuple[int, str]]:
    number, lines = None, list[str]()
    for line in text.split("\n"):
        if _is_marked(line, marker):
            lines.append(line)
            continue
        heading = _HEADING.match(line)
        if heading is None and not line.startswith("#"):
            continue  # a label in an item, or an empty line between items
        if number is not None:
            yield number, unmark("\n".join(lines), marker) if lines else ""
        number, lines = None if heading is None else _number(heading), []
    if number is not None:
        yield number, unmark("\n".join(lines), marker) if lines else ""


def _unmarked_items(text: str) -> Iterator[tuple[int, str]]:
    """The one item of a piece whose text is not marked: everything below its heading."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading is not None:
            yield _number(heading), "\n".join(lines[index + 1 :]).rstrip("\n")
            return


def _number(heading: re.Match[str]) -> int:
    return int(heading.group(1) or heading.group(2))
