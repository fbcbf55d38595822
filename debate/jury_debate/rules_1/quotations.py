"""Looks for quotations in texts. Pure and total: any text, any quotation, never an error.

`verified` means that the text is there, never that it carries the claim. In a `normalised` quotation case, quotation
marks and dots at its ends may differ, and letters may be composed otherwise. Runs of white space, line ends too, equal
each other; none equals some only between two characters of scripts that are written without spaces, or after a hyphen
that ends a line. Every other character counts.

The normal form of a text, in which such quotations are looked for: letters are in one case and decomposed (canonical
caseless matching, The Unicode Standard, 3.13, D145), quotation marks are left out, and each run of white space, line
ends too, is one space. It is nothing between two characters of scripts that are written without spaces. After a hyphen
it is nothing too, as a line may end there, and is compared apart."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple
from unicodedata import combining, normalize

import regex

from jury_events.evidence import SHORTEST_QUOTE

QUOTATION_MARKS = "\"'`´‘’‚‛“”„‟‹›«»「」『』〝〞〟＂＇"


WHITE_SPACE = "".join(char for char in map(chr, range(0x3001)) if char.isspace())


_LINE_ENDS = frozenset("\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029")


_HYPHENS = "-\u00ad\u058a\u2010\u2011"


_PIECE = 256
"""Characters; how much of a text is mapped letter by letter to find the span of a place in the normal form."""


_MOST_MARKS = 30
"""Combining marks that are ordered together (as UAX #15 has it for streams): to order n of them takes n² steps."""


_MOST_PLACES = 1000
"""Places at which a normal form is found and passed over; then it counts as not found."""


_MARK = r"[\P{ccc=0}\u0f73\u0f75\u0f81]"  # these three become two marks each


_PIECES = regex.compile(rf"(?s).{{1,{_PIECE}}}+{_MARK}*+")


_MARKS = regex.compile(rf"{_MARK}{{{_MOST_MARKS}}}")


_LETTERS = regex.compile(rf"(?s).{_MARK}*+")


_IS_MARK = regex.compile(_MARK)


_BEHIND_HYPHEN = re.compile(rf"[{_HYPHENS}]\s")


_RUNS = re.compile(r"\s\s+")


_GAPS = re.compile(r"\s(?:\s+|(?<=[^\x00-,.-\x7f]\s))")
"""Runs of white space, and white space behind a hyphen or a character of no Latin text."""


_SCRIPTS = (
    *("Han", "Hiragana", "Katakana", "Bopomofo", "Yi", "Nushu", "Tangut", "Khitan_Small_Script"),
    *("Thai", "Lao", "Khmer", "Myanmar", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Ahom"),
    *("Javanese", "Balinese", "Tibetan"),
)
"""Written without spaces between words. Punctuation is of all the scripts that it is used in, and full-width
punctuation (！，) of those of East Asia."""


_IS_WITHOUT_SPACES = regex.compile(
    "|".join((*(rf"\p{{scx={script}}}" for script in _SCRIPTS), r"[\p{P}&&[\p{ea=F}\p{ea=W}]]")), regex.VERSION1
)


class Found(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


class NormalForm:
    """The normal form of a text. Time and memory are linear in its length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._mapped: dict[int, list[_Letter]] = {}

    @cached_property
    def characters(self) -> str:
        """The normal form; it neither begins nor ends with white space."""
        text, start, parts = self._letters, 0, []
        for joint, end in self._joints.items():
            parts.append(text[start:joint])
            start = end
        return " ".join("".join((*parts, text[start:])).split())

    def find(self, wanted: "NormalForm") -> Found | None:
        """The first place of the text that has this normal form; it begins and ends with whole letters that count."""
        start = -1
        for _ in range(_MOST_PLACES):
            start = self.characters.find(wanted.characters, start + 1)
            if start < 0:
                break
            if self._has_hyphens_of(wanted, start):
                found = self._whole(start, start + len(wanted.characters))
                if found is not None:
                    return found
        return None

    def _has_hyphens_of(self, wanted: "NormalForm", start: int) -> bool:
        """Whether what stands behind hyphens is white space in both, or in none; a line may end behind any hyphen."""
        for at in wanted.hyphens:
            own, other = self.gap(start + at), wanted.gap(at)
            if bool(own) != bool(other) and _LINE_ENDS.isdisjoint(own + other):
                return False
        return True

    @cached_property
    def hyphens(self) -> list[int]:
        """Where the hyphens of the normal form end, but for one at its end."""
        return [at for at, char in enumerate(self.characters[:-1], start=1) if char in _HYPHENS]

    def _whole(self, start: int, end: int) -> Found | None:
        """The characters of the text that make these of the normal form; None where a letter is cut."""
        start, end = self._place(start), self._place(end - 1)
        first, last = self._letter(start), self._letter(end)
        # Not in the middle of a letter: "cafe" is no quotation of "café".
        if (first.first, last.last) != (start, end) or self._is_cut(first.start) or self._is_cut(last.end):
            return None
        return Found(first.start, last.end)

    def _is_cut(self, at: int) -> bool:
        """Whether a letter goes on at this character of the text: one with very many marks is several pieces."""
        return at > 0 and _IS_MARK.match(self._text, at) is not None

    def gap(self, at: int) -> str:
        """The white space that is nothing in the normal form, before a character of its own that is no space."""
        return self._letters[self._place(at - 1) + 1 : self._place(at)]

    def _place(self, at: int) -> int:
        """The index in the letters of a character of the normal form that is no space."""
        shifted, shifts = self._shifts
        return at + shifts[bisect_right(shifted, at) - 1]

    @cached_property
    def _joints(self) -> dict[int, int]:
        """The white space of the letters that is nothing in the normal form: where it starts, and its end."""
        text = self._letters
        if not _may_have_joints(text):
            return {}
        return dict(gap.span() for gap in _GAPS.finditer(text) if _is_joint(text, *gap.span()))

    @cached_property
    def _shifts(self) -> tuple["array[int]", "array[int]"]:
        text, joints = self._letters, self._joints
        shift = len(text) - len(text.lstrip())
        shifted, shifts = array("q", [0]), array("q", [shift])
        for gap in (_GAPS if joints else _RUNS).finditer(text, shift):
            start, end = gap.span()
            kept = start not in joints
            if end - start > kept:
                shifted.append(start + kept - shift)
                shift += end - start - kept
                shifts.append(shift)
        return shifted, shifts

    @cached_property
    def _pieces(self) -> list[str]:
        return list(_pieces(self._text))

    @cached_property
    def _forms(self) -> list[str]:
        return list(map(_folded, self._pieces))

    @cached_property
    def _letters(self) -> str:
        if self._text.isascii():
            return _folded(self._text)  # nothing is combined in it, so that pieces are needed for spans alone
        return "".join(self._forms)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where each piece begins in the text, and in the letters."""
        return starts_of(self._pieces), starts_of(self._forms)

    def _letter(self, at: int) -> "_Letter":
        piece = bisect_right(self._starts[1], at) - 1
        mapped = self._mapped.get(piece)
        if mapped is None:
            mapped = self._mapped[piece] = self._map(piece)
        return mapped[bisect_right(mapped, at, key=_first_index) - 1]

    def _map(self, piece: int) -> list["_Letter"]:
        start, first = (starts[piece] for starts in self._starts)
        found = []
        for letter in _LETTERS.findall(self._pieces[piece]):
            end, behind = start + len(letter), first + len(_folded(letter))
            if behind > first:
                found.append(_Letter(start, end, first, behind - 1))
            start, first = end, behind
        return found


class _Letter(NamedTuple):
    """A letter with its combining marks: its span in the text, and its first and last index in the letters."""

    start: int
    end: int
    first: int
    last: int


_first_index = attrgetter("first")


def starts_of(texts: Sequence[str]) -> list[int]:
    """Where each of these texts begins once they are joined."""
    return [0, *accumulate(map(len, texts))][: len(texts)]


def _folded(text: str) -> str:
    """Without quotation marks, in one case, decomposed."""
    text = text.lower() if text.isascii() else normalize("NFD", normalize("NFD", text).casefold())
    for mark in QUOTATION_MARKS:
        if mark in text:
            text = text.replace(mark, "")
    return text


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of about `_PIECE` characters, cut before a letter: their letters join.

    A letter with more than `_MOST_MARKS` marks is cut after every so many of them, and so is it in a quotation.
    """
    for piece in _PIECES.findall(text):
        start = 0
        if not piece.isascii():
            for marks in _MARKS.finditer(piece):
                yield piece[start : marks.end()]
                start = marks.end()
        if start < len(piece):
            yield piece[start:]


def _may_have_joints(text: str) -> bool:
    for hyphen in _HYPHENS:
        if hyphen in text:
            if _BEHIND_HYPHEN.search(text):
                return True
            break
    return not text.isascii() and any(map(_is_without_spaces, set(text)))


def _is_joint(text: str, start: int, end: int) -> bool:
    """Whether white space of a text is nothing in the normal form."""
    if start > 0 and text[start - 1] in _HYPHENS:
        return True
    if end == len(text) or not _is_without_spaces(text[end]):
        return False
    while start > 0 and combining(text[start - 1]):
        start -= 1
    return start > 0 and _is_without_spaces(text[start - 1])


@lru_cache(maxsize=4096)
def _is_without_spaces(char: str) -> bool:
    return not combining(char) and _IS_WITHOUT_SPACES.match(char) is not None


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
