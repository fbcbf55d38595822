"""A result for a terminal: the verdict, the case and the votes in a line, and below it why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

from jury_events.judgment import sides_of, sides_text
from jury_events.text import visible_line
from jury_events.verdict import FAIL, PASS, REVIEW
from jury_views.number_formats import of_hundred

_GLYPHS = {PASS: "✓", REVIEW: "?", FAIL: "✗"}
_NO_VERDICT = "–"
_LONGEST = 80
"""Columns of an id; a longer one is cut in its middle, where ids of one run differ least."""
_LONGEST_REASON = 600


def result_lines_of(line: Mapping[str, Any], columns: int | None) -> Iterator[str]:
    """The lines of a result line (`views.result_lines.result_line`).

    Args:
        line: of a debate that is over.
        columns: of the terminal; None: lines are not cut.
    """
    verdict = line["final_label"] or line["final_verdict"] or line["status"]
    glyph = _GLYPHS.get(line["final_verdict"], _NO_VERDICT)
    score = ("–" if line["status"] == "completed" else "") if line["final_score"] is None else line["final_score"]
    simulated = "  (simulated)" if line["simulated"] else ""
    head, end = f"{glyph} {verdict:<12} {score:>3}  ", f"{votes_text(line)}{simulated}"
    room = _LONGEST if columns is None else max(12, min(_LONGEST, columns - display_width(head + end)))
    yield f"{head}{middle_cut(visible_line(line['case_id'], 1000), room)}{end}"
    if (why := why_line(line)) is not None:
        yield f"    {why if columns is None else end_cut(why, columns - 4)}"


def ended_lines(result: Mapping[str, Any], *named: str) -> Iterator[str]:
    """The lines of one debate that was judged alone, after its events: verdict, score, `named`, and why.

    Args:
        result: of a debate with a verdict, or a result line of it.
        named: what stands behind the score, as the debate's id.
    """
    simulated = " (simulated jurors)" if result["simulated"] else ""
    words = (result["final_label"] or result["final_verdict"], of_hundred(result["final_score"]), *named)
    yield f"{'  '.join(words)}{simulated}"
    if (why := why_line(result)) is not None:
        yield f"    {why}"


def why_line(line: Mapping[str, Any]) -> str | None:
    """Where it went wrong, and the reason, on one line; None of a debate without a verdict."""
    if line["reason"] is None:
        return None
    decisive = line["decisive"]
    where = "" if decisive is None else f"item {decisive['item']}{_named(decisive)}: "
    return visible_line(where + line["reason"], _LONGEST_REASON)


def votes_text(line: Mapping[str, Any]) -> str:
    """How the seats voted, the largest side first, as `  2:1`; "" without votes."""
    labels = line["vote_labels"] or {}
    said = sides_text(sides_of(labels.get(juror) or vote for juror, vote in (line["votes"] or {}).items()))
    return "" if said is None else f"  {said}"


def middle_cut(text: str, columns: int) -> str:
    """The text, or its beginning and end around `…`, in so many columns of a terminal."""
    if display_width(text) <= columns:
        return text
    begin, end = "", ""
    for index in range(len(text)):
        if display_width(begin + end) + 2 >= columns:
            break
        if index % 2:
            end = text[-1 - len(end)] + end
        else:
            begin += text[len(begin)]
    return f"{begin}…{end}"


def end_cut(text: str, columns: int) -> str:
    """The text, or its beginning with `…`, in so many columns of a terminal."""
    if display_width(text) <= columns:
        return text
    kept = text[: max(1, columns - 1)]
    while display_width(kept) > columns - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _named(decisive: Mapping[str, Any]) -> str:
    return f" ({decisive['named_by']} of {decisive['seats']} seats)" if decisive["seats"] > 1 else ""


_WIDEST = 60
"""Columns of a terminal to which cells are filled up; a wider one moves what follows it in its line alone."""

_WITHOUT_WIDTH = frozenset({"Mn", "Me", "Cf"})
"""Categories of characters that stand on the one before, or are not shown."""


class AlignedColumn(NamedTuple):
    """A column: `right` where its ends stand below each other, `gap` what parts it from the one before."""

    right: bool = False
    gap: str = "  "


class AlignedLines:
    """Makes lines of rows, some at a time; columns grow with the widest cell so far.

    Args:
        columns: of every row.
    """

    def __init__(self, columns: Sequence[AlignedColumn]) -> None:
        self._columns = columns
        self._widths = [0] * len(columns)

    def lines(self, rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """The rows as lines without trailing spaces."""
        for place in range(len(self._columns)):
            widest = max((display_width(row[place]) for row in rows), default=0)
            self._widths[place] = max(self._widths[place], min(widest, _WIDEST))
        for row in rows:
            yield "".join(self._filled(place, cell) for place, cell in enumerate(row)).rstrip()

    def _filled(self, place: int, cell: str) -> str:
        column, room = self._columns[place], " " * (self._widths[place] - display_width(cell))
        gap = column.gap if place and self._widths[place] else ""
        return f"{gap}{room}{cell}" if column.right else f"{gap}{cell}{room}"


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes: two a wide character, as most Japanese ones are (UAX #11)."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if category(character) in _WITHOUT_WIDTH:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
