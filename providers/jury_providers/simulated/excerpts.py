"""Short verbatim quotations of the record, and their check."""

import re
from collections.abc import Iterator

from jury_events.evidence import LONGEST_QUOTE, SHORTEST_QUOTE

LONGEST = 90
_SHORTEST = 8
_MOST = 4
_UNQUOTABLE = re.compile(r"[“”「」\x00-\x1f]")
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？]|[“”「」]")
_QUOTED = re.compile(r"[“「]([^“”「」\n]{8,240})[”」]")


def excerpt(line: str, phrase: str, shortest: int = _SHORTEST) -> str:
    """A piece of `line` around `phrase`, without curly quotation marks and unprintable characters; "" if none remains.

    Args:
        line: of the record, verbatim.
        phrase: its first word is searched for.
        shortest: characters; a shorter piece is none.
    """
    word = phrase.split(" ", 1)[0]
    at = max(0, line.lower().find(word)) if word else 0
    start = max(0, at - LONGEST // 3)
    window = line[start : start + LONGEST]
    pieces: list[str] = []
    for piece in _UNQUOTABLE.split(window):
        kept = piece if piece.isprintable() else "".join(char if char.isprintable() else "\n" for char in piece)
        pieces += kept.split("\n")
    wanted = [piece for piece in pieces if word and word in piece.lower() and len(piece.strip()) >= shortest]
    best = max(wanted or pieces, key=len, default="").strip()
    if len(best) < shortest:
        return ""
    return _whole_words(best, cut_left=start > 0, cut_right=start + LONGEST < len(line))


def _whole_words(text: str, *, cut_left: bool, cut_right: bool) -> str:
    """Partial words at a cut are dropped if the text has spaces."""
    first, last = text.find(" "), text.rfind(" ")
    begin = first + 1 if cut_left and 0 <= first < len(text) // 3 else 0
    end = last if cut_right and last > 2 * len(text) // 3 else len(text)
    return text[begin:end].strip()


def passage(line: str, phrase: str) -> str:
    """A quotation of a line: the sentence with the phrase's first word, or a piece of it; "" if none is suitable."""
    word = phrase.split(" ", 1)[0]
    at = max(0, line.lower().find(word)) if word else 0
    ends = 0
    for sentence in sentences(line):
        ends += len(sentence)
        if ends > at:
            whole = sentence.strip()
            if SHORTEST_QUOTE <= len(whole) <= LONGEST_QUOTE and whole.isprintable():
                return whole
            return excerpt(sentence, phrase, SHORTEST_QUOTE)
    return ""


def opening(sentence: str) -> str:
    """A sentence as a quotation, as many whole words of it as fit; "" if it is too short."""
    sentence = sentence.strip()
    kept = _whole_words(sentence[:LONGEST_QUOTE], cut_left=False, cut_right=len(sentence) > LONGEST_QUOTE)
    return kept if len(kept) >= SHORTEST_QUOTE else ""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text with the white space before them; one within curly quotation marks ends none."""
    start = opened = 0
    for found in _SENTENCE.finditer(text):
        sign = found.group()
        if sign in "“「":
            opened += 1
        elif sign in "”」":
            opened = max(0, opened - 1)
        elif not opened:
            yield text[start : found.end()]
            start = found.end()
    if start < len(text):
        yield text[start:]


def supported(said: str, record: str) -> tuple[str, ...]:
    """The quotations in `said` that occur in the record."""
    quoted = [found.group(1) for found in _QUOTED.finditer(said[:20_000])][:_MOST]
    return tuple(quote for quote in quoted if quote in record)
