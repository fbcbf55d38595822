"""A text of the case in pieces, so that what jurors quote of it can be marked."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_AROUND = 160
"""Characters on each side of a quotation that the shown part of a text does not have."""


class Mark(NamedTuple):
    """Characters `start` to `end` (exclusive) that the quotation `quotation` has; `begins`: it begins here."""

    quotation: str
    start: int
    end: int
    begins: bool = True


class CitedPiece(NamedTuple):
    """Characters that the same quotations have: `quotations`, of which `begins` begin here."""

    text: str
    quotations: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


class CitedText(NamedTuple):
    """The shown text in pieces, and excerpts around the quotations that it does not have."""

    pieces: tuple[CitedPiece, ...]
    excerpts: tuple[tuple[CitedPiece, ...], ...] = ()

    @property
    def begun(self) -> set[str]:
        """The quotations that begin in it."""
        return {one for text in (self.pieces, *self.excerpts) for piece in text for one in piece.begins}


def cited_text(whole: str, shown: str, marks: Sequence[Mark]) -> CitedText | None:
    """The text with its marks; None where there are none, or `shown` is not how `whole` begins.

    Args:
        whole: the text.
        shown: its beginning.
        marks: in characters of the whole text.
    """
    known = [mark for mark in marks if 0 <= mark.start < mark.end <= len(whole)]
    if not known or not whole.startswith(shown):
        return None
    inside = [mark for mark in known if mark.end <= len(shown)]
    beyond = [mark for mark in known if mark.end > len(shown)]
    excerpts = tuple(tuple(_excerpt(whole, *window, beyond)) for window in _windows(beyond, len(whole)))
    return CitedText(tuple(_pieces(shown, 0, inside)), excerpts)


def _windows(marks: Sequence[Mark], length: int) -> Iterator[tuple[int, int]]:
    """Where excerpts begin and end; those that meet are one."""
    begun: tuple[int, int] | None = None
    for mark in sorted(marks, key=lambda one: one.start):
        first, last = max(mark.start - _AROUND, 0), min(mark.end + _AROUND, length)
        if begun is not None and first <= begun[1]:
            begun = (begun[0], max(begun[1], last))
            continue
        if begun is not None:
            yield begun
        begun = (first, last)
    if begun is not None:
        yield begun


def _excerpt(whole: str, first: int, last: int, marks: Sequence[Mark]) -> Iterator[CitedPiece]:
    if first:
        yield CitedPiece("…")
    yield from _pieces(whole[first:last], first, [mark for mark in marks if first <= mark.start < last])
    if last < len(whole):
        yield CitedPiece("…")


def _pieces(text: str, offset: int, marks: Sequence[Mark]) -> Iterator[CitedPiece]:
    """The pieces of a text that begins at `offset`; a line break of two characters is never split."""
    cuts = {0, len(text)}
    moved = [mark._replace(start=_cut(text, mark.start - offset), end=_cut(text, mark.end - offset)) for mark in marks]
    cuts.update(*((mark.start, mark.end) for mark in moved))
    for start, end in pairwise(sorted(cuts)):
        over = [mark for mark in moved if mark.start <= start and end <= mark.end]
        yield CitedPiece(
            text[start:end],
            tuple(dict.fromkeys(mark.quotation for mark in over)),
            tuple(mark.quotation for mark in over if mark.begins and mark.start == start),
        )


def _cut(text: str, at: int) -> int:
    return at + 1 if text[at - 1 : at + 1] == "\r\n" else at
