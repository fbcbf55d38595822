"""The items of a transcript that have a text in them."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jury_events.transcript import Item, Transcript
from jury_web.pages.transcript_blocks import text_of

FOUND = 50
"""Items on one page of a search."""

LONGEST = 200
"""Characters of what is searched for."""

_AROUND = 120
"""Characters on each side of the place that is shown."""


class FoundPlace(NamedTuple):
    """The item `offset`, from 0, and the first place of the text in it: `before`, `match` and `after` on one line."""

    offset: int
    item: Item
    before: str
    match: str
    after: str


class FoundPlaces(NamedTuple):
    """Places in the order of the items; `further` is the item from which the search goes on, None at the end."""

    places: tuple[FoundPlace, ...]
    further: int | None


def found_places(transcript: Transcript, words: str, start: int = 0) -> FoundPlaces:
    """The items from `start` on that have these characters in a text or a name, in letters of either case."""
    wanted = re.compile(re.escape(words), re.IGNORECASE)
    found = tuple(islice(_places(transcript, wanted, start), FOUND + 1))
    further = found[FOUND].offset if len(found) > FOUND else None
    return FoundPlaces(found[:FOUND], further)


def _places(transcript: Transcript, wanted: re.Pattern[str], start: int) -> Iterator[FoundPlace]:
    for index, item in islice(enumerate(transcript.items), start, None):
        for text in (text_of(item), getattr(item, "name", None), getattr(item, "speaker", None)):
            match = None if text is None else wanted.search(text)
            if text is not None and match is not None:
                begin, end = match.span()
                yield FoundPlace(
                    index,
                    item,
                    ("…" if begin > _AROUND else "") + text[max(begin - _AROUND, 0) : begin],
                    match.group(),
                    text[end : end + _AROUND] + ("…" if end + _AROUND < len(text) else ""),
                )
                break
