"""Looks for quotations in texts. Pure and total: any text, any quotation, never an error.

`verified` means that the text is there, never that it carries the claim. In a `normalised` quotation case, quotation
marks and dots at its ends may differ, and letters may be composed otherwise. Runs of white space, line ends too, equal
each other; none equals some only between two characters of scripts that are written without spaces, or after a hyphen
that ends a line. Every other character counts.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from jury_debate.rules_v3.normal_form import QUOTATION_MARKS, WHITE_SPACE, Found, NormalForm, starts_of
from jury_events.evidence import SHORTEST_QUOTE

_AROUND = "….．" + WHITE_SPACE + QUOTATION_MARKS
"""What is taken off the ends of a quotation before its normal form is looked for."""


class SearchedText:
    """A text in which quotations are looked for; its normal form is made once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._normal = NormalForm(text)

    def around(self, found: Found, more: int) -> str:
        """A place with at most `more` characters before and behind it."""
        return self._text[max(0, found.start - more) : found.end + more]

    def exact(self, quote: str) -> Found | None:
        """The first place that has exactly this, at least `SHORTEST_QUOTE` characters."""
        start = self._text.find(quote) if len(quote) >= SHORTEST_QUOTE else -1
        return None if start < 0 else Found(start, start + len(quote))

    def normalised(self, quote: str) -> Found | None:
        """The first place with the normal form of the quotation; it begins and ends with characters that count."""
        wanted = NormalForm(quote.strip(_AROUND))
        if len(wanted.characters.replace(" ", "")) < SHORTEST_QUOTE:
            return None
        return self._normal.find(wanted)


class SearchedItems:
    """Numbered texts, in which a quotation is looked for outside of the one that it names."""

    def __init__(self, items: Sequence[tuple[int, str]]) -> None:
        self._numbers = [number for number, _ in items]
        self._starts = starts_of([text for _, text in items])
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
