"""A report for people as data: its sections, and in them lines, tables and charts, in the order in which they are read.

A figure is described once (`Figure`): the field of the report that has it, its name in both languages, and its format.
`terminal.report_page`, `markdown` and `report.html` (pages and notebooks) write the same
sections; JSON has the fields themselves (`jury_analysis.report_object`).
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jury_analysis.wording import Reason, Wording
from jury_events.panel import Language
from jury_views.number_formats import dollars, p_value

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate


_Key = tuple["Wording", tuple[tuple[str, object], ...]]


class FigureNotes:
    """The notes of a section, in the order of their first figure."""

    def __init__(self) -> None:
        self._notes: dict[_Key, list[Reason]] = {}

    def add(self, note: "Reason") -> int:
        """The number of the note, from 1."""
        others = tuple((name, value) for name, value in note.values.items() if name != "n")
        self._notes.setdefault((note.wording, others), []).append(note)
        return list(self._notes).index((note.wording, others)) + 1

    def lines(self) -> "list[Reason]":
        """The notes, as `only 11–25 clusters, fewer than 30: the interval may be too narrow`."""
        return [_one(notes) for notes in self._notes.values()]

    def take(self) -> "list[Reason]":
        """The notes since the last call; the next one is number 1 again."""
        taken, self._notes = self.lines(), {}
        return taken


def _one(notes: "list[Reason]") -> "Reason":
    first = notes[0]
    counts = [count for note in notes if isinstance(count := note.values.get("n"), (int, float))]
    if len(set(counts)) < 2:  # noqa: PLR2004  (a range has two ends)
        return first
    return first.wording(**{**first.values, "n": f"{min(counts)}–{max(counts)}"})


Format = Literal[
    "text",
    "whole",
    "verdict",
    "count",
    "signed",
    "number",
    "decimal",
    "hundredths",
    "shift",
    "digits",
    "bound",
    "share",
    "p",
    "dollars",
]
"""`whole` is a text that a terminal shows whole; `shift` a difference with a sign; `digits` has six digits that count,
`bound` four decimals."""
Words = str | Reason
"""A name of the report's own, as of a seat, or words in each language; of what a terminal alone shows, English."""

NOTHING = "–"
AND_MORE = Wording("and {n:,} more", "ほか{n:,}件")
MOST_ROWS = 100
"""Rows of one table of a page, beside its totals."""


class Figure(NamedTuple):
    """A figure of each object of a table; a count that `of` names stands before it."""

    field: str
    label: Wording | Reason
    form: Format = "share"
    of: str = ""

    @property
    def name(self) -> Reason:
        """What it is called; the label of one that has no blanks is a wording."""
        return self.label if isinstance(self.label, Reason) else self.label()

    def cell(self, found: object) -> "ReportCell":
        """The figure of one object."""
        return ReportCell(attrgetter(self.field)(found), self.form, attrgetter(self.of)(found) if self.of else NOTHING)


class ReportCell(NamedTuple):
    """A value (an `Estimate`, a number, words, or None) in its format, after what is `counted` if there is one.

    A count of None is one that is not known, and the value is not shown then. `link`: a path of pages.
    """

    value: Any
    form: Format = "text"
    counted: int | str | None = NOTHING
    link: str = ""


class Sentence(NamedTuple):
    """A sentence; a `notice` is to be seen first."""

    text: Words
    notice: bool = False


class Table(NamedTuple):
    """Rows below their heads; the first column names the row. `totals` are rows at the end that are never left out.

    `few`: rows that a terminal shows. `folded`: pages show the table when it is asked for. `diagonal`: rows and columns
    have the same names, and what is off the diagonal differs.
    """

    head: tuple[Words, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    totals: tuple[tuple[ReportCell, ...], ...] = ()
    title: Reason | None = None
    few: int = MOST_ROWS
    folded: bool = False
    diagonal: bool = False

    def shown(self, most: int) -> tuple[tuple[ReportCell, ...], ...]:
        """The rows, at most so many beside the totals."""
        return (*self.rows[:most], *self.totals)


class Chart(NamedTuple):
    """What a macro of `charts.html` draws; pages and notebooks alone have it, beside a table of its numbers."""

    kind: Literal["bar", "dot_plot", "heat_map", "reliability_chart", "frontier_chart", "drift_chart"]
    drawn: Callable[[Language], Any]
    hint: Reason | None = None
    """How it is read."""


Block = Sentence | Table | Chart


class Section(NamedTuple):
    """Blocks with a title; `group` is the name by which a command prints it, `key` is its own."""

    group: str
    key: str
    title: Words
    blocks: tuple[Block, ...]


class Written(NamedTuple):
    """A cell as text: the value, its interval, and the numbers of the notes on it."""

    value: str
    range: str = ""
    marks: tuple[int, ...] = ()


Formats = dict[Format, Callable[[Any], str]]
FORMATS: Formats = {
    "text": str,
    "whole": str,
    "verdict": str,
    "count": "{:,}".format,
    "signed": "{:+,}".format,
    "number": "{:.3f}".format,
    "decimal": "{:.1f}".format,
    "hundredths": "{:.2f}".format,
    "shift": "{:+.1f}".format,
    "digits": "{:.6g}".format,
    "bound": "{:.4f}".format,
    "share": "{:.1%}".format,
    "p": p_value,
    "dollars": dollars,
}
"""What every reader writes in the same way; each has its own lengths of texts."""


def written(cell: ReportCell, notes: FigureNotes, language: Language, formats: Formats) -> Written:
    """A cell in a language; why a figure is missing, and what limits it, is added to the notes."""
    value, form = cell.value, formats[cell.form]
    if cell.counted is None:
        return Written(NOTHING)
    before = "" if isinstance(cell.counted, str) else f"{formats['count'](cell.counted)} · "
    if not hasattr(value, "interval"):
        shown = in_language(value, language) if isinstance(value, str) else value
        return Written(before + (NOTHING if value is None else form(shown)))
    estimate: Estimate = value
    marks = tuple(notes.add(note) for note in (*filter(None, [estimate.reason]), *estimate.notes))
    said = NOTHING if estimate.value is None else form(estimate.value)
    ends = estimate.interval
    between = "" if ends is None else f"[{form(ends.low)}, {form(ends.high)}]"
    return Written(before + said, between, tuple(dict.fromkeys(marks)))


def cell_text(cell: ReportCell, notes: FigureNotes, language: Language, formats: Formats) -> str:
    """A cell on one line, as `0.557 [0.501, 0.605] (1)`."""
    one = written(cell, notes, language, formats)
    return " ".join(part for part in (one.value, one.range, *(f"({mark})" for mark in one.marks)) if part)


def in_language(words: Words, language: Language) -> str:
    """A name as it is, words in the language."""
    return words.text(language) if isinstance(words, Reason) else words


def table(named: Iterable[tuple[Words, object]], figures: Sequence[Figure], corner: Words = "", **how: Any) -> Table:
    """A row an object, by its name, and a column a figure."""
    return Table(
        (corner, *(one.name for one in figures)),
        tuple((ReportCell(name), *(one.cell(found) for one in figures)) for name, found in named),
        **how,
    )


def listed(
    found: object, figures: Sequence[Figure], corner: Words = "", value: Words = "", counted: Words = ""
) -> Table:
    """A row a figure of one object, with its value, and where `counted` names what it counts with its `n`."""
    return Table(
        (corner, value, *((counted,) if counted else ())),
        tuple(
            (ReportCell(one.name), cell := one.cell(found), *((ReportCell(cell.value.n, "count"),) if counted else ()))
            for one in figures
        ),
    )


def named_facts(facts: Iterable[tuple[Words, Words]]) -> Table:
    return Table(("figure", "value"), tuple((ReportCell(name), ReportCell(said, "whole")) for name, said in facts))


def crossed(corner: Words, rows: Sequence[Words], columns: Sequence[Words], counts: Iterable[Iterable[Any]]) -> Table:
    """Counts by two names, which may be the same."""
    made = tuple(
        (ReportCell(name, "verdict"), *(ReportCell(one, "count") for one in row))
        for name, row in zip(rows, counts, strict=True)
    )
    return Table((corner, *columns), made, diagonal=rows == columns)
