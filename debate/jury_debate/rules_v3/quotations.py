"""Looks for quotations in texts. Pure and total: any text, any quotation, never an error.

`verified` means that the text is there, never that it carries the claim. In a `normalised` quotation white space, case,
quotation marks and dots at its ends may differ, and letters may be composed otherwise (canonical caseless matching,
The Unicode Standard, 3.13, D145); every other character counts.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from jury_events.evidence import SHORTEST_QUOTE

_QUOTATION_MARKS = "\"'`´‘’‚‛“”„‟‹›«»「」『』〝〞〟＂＇"
_AROUND = "….． \t\r\n\u3000" + _QUOTATION_MARKS
"""What is taken off the ends of a quotation before its normal form is looked for."""

_PIECE = 2048
"""Characters; how much of a text is mapped character by character to find the span of a normal form."""

_MOST_MARKS = 64
"""Characters by which a piece may be longer, to end with a letter: ordering very many marks takes quadratic time."""

_MOST_PLACES = 1000
"""Places in the middle of letters at which a normal form is found and passed over; then it counts as not found."""


class Found(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


class SearchedText:
    """A text in which quotations are looked for; its normal form is made once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._mapped: dict[int, list[_Character]] = {}

    def around(self, found: Found, more: int) -> str:
        """A place with at most `more` characters before and behind it."""
        return self._text[max(0, found.start - more) : found.end + more]

    def exact(self, quote: str) -> Found | None:
        """The first place that has exactly this, at least `SHORTEST_QUOTE` characters."""
        start = self._text.find(quote) if len(quote) >= SHORTEST_QUOTE else -1
        return None if start < 0 else Found(start, start + len(quote))

    def normalised(self, quote: str) -> Found | None:
        """The first place with the normal form of the quotation; it begins and ends with characters that count."""
        wanted = "".join(map(_normal_form, _pieces(quote.strip(_AROUND))))
        if len(wanted) < SHORTEST_QUOTE:
            return None
        start = -1
        for _ in range(_MOST_PLACES):
            start = self._normal.find(wanted, start + 1)
            if start < 0:
                break
            first, last = self._character(start), self._character(start + len(wanted) - 1)
            # Not in the middle of a letter: "cafe" is no quotation of "café".
            if first.first == start and last.last == start + len(wanted) - 1:
                return Found(first.start, last.end)
        return None

    @cached_property
    def _text_pieces(self) -> list[str]:
        return list(_pieces(self._text))

    @cached_property
    def _forms(self) -> list[str]:
        return list(map(_normal_form, self._text_pieces))

    @cached_property
    def _normal(self) -> str:
        return "".join(self._forms)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where each piece begins in the text, and in the normal form."""
        return _starts(self._text_pieces), _starts(self._forms)

    def _character(self, at: int) -> "_Character":
        """The character of the text of which the normal form has a part at this index."""
        piece = bisect_right(self._starts[1], at) - 1
        mapped = self._mapped.get(piece)
        if mapped is None:
            mapped = self._mapped[piece] = self._map(piece)
        return mapped[bisect_right(mapped, at, key=_first_index) - 1]

    def _map(self, piece: int) -> list["_Character"]:
        """The characters of a piece that have a part in the normal form."""
        start, first = (starts[piece] for starts in self._starts)
        found = []
        for character in _characters(self._text_pieces[piece]):
            end, behind = start + len(character), first + len(_normal_form(character))
            if behind > first:
                found.append(_Character(start, end, first, behind - 1))
            start, first = end, behind
        return found


class _Character(NamedTuple):
    """A letter with its combining marks: its span in the text, and its first and last index in the normal form."""

    start: int
    end: int
    first: int
    last: int


_first_index = attrgetter("first")


class SearchedItems:
    """Numbered texts, in which a quotation is looked for outside of the one that it names."""

    def __init__(self, items: Sequence[tuple[int, str]]) -> None:
        self._numbers = [number for number, _ in items]
        self._starts = _starts([text for _, text in items])
        self._all = "".join(text for _, text in items)
        self._searched: dict[int, SearchedText] = {}

    def item(self, number: int) -> SearchedText | None:
        """The text of an item; None where there is no item of this number."""
        found = self._searched.get(number)
        if found is None and number in self._places:
            place = self._places[number]
            found = self._searched[number] = SearchedText(self._all[self._starts[place] : self._end(place)])
        return found

    def exact_elsewhere(self, quote: str, but: int) -> tuple[int, Found] | None:
        """The first item but one that has exactly this, and where."""
        if len(quote) < SHORTEST_QUOTE:
            return None
        at = self._all.find(quote)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            start, end, number = self._starts[place], self._end(place), self._numbers[place]
            if number != but and at + len(quote) <= end:
                return number, Found(at - start, at - start + len(quote))
            # In that item, or over its end: so is every later match that begins in this item.
            at = self._all.find(quote, end)
        return None

    def occurrences(self, text: str) -> Iterator[tuple[int, Found]]:
        """Every item that has exactly this, and where, in order; places do not overlap."""
        at = self._all.find(text)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            start, end = self._starts[place], self._end(place)
            inside = at + len(text) <= end
            if inside:
                yield self._numbers[place], Found(at - start, at - start + len(text))
            at = self._all.find(text, at + len(text) if inside else end)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._numbers)}

    def _end(self, place: int) -> int:
        return self._starts[place + 1] if place + 1 < len(self._starts) else len(self._all)


def _starts(texts: Sequence[str]) -> list[int]:
    return [0, *accumulate(map(len, texts))][: len(texts)]


def _normal_form(text: str) -> str:
    """Without white space and quotation marks, in one case, decomposed."""
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
    text = "".join(text.split())
    for mark in _QUOTATION_MARKS:
        if mark in text:
            text = text.replace(mark, "")
    return text


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of about `_PIECE` characters, cut before a letter: normal forms of pieces join.

    A letter with more than `_MOST_MARKS` marks may be cut: it is found as it stands, and perhaps not in another order.
    """
    start = 0
    while start < len(text):
        end = start + _PIECE
        longest = min(len(text), end + _MOST_MARKS)
        while end < longest and not _begins(text[end]):
            end += 1
        yield text[start:end]
        start = end


def _characters(text: str) -> Iterator[str]:
    """Each letter with its combining marks."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or _begins(text[end]):
            yield text[start:end]
            start = end


def _begins(char: str) -> bool:
    """Whether a letter begins here, and not a mark that belongs to the one before."""
    return char.isascii() or unicodedata.combining(unicodedata.normalize("NFD", char)[0]) == 0
