"""Sections of a report for a terminal, in English: tables below lines, and the notes that their figures refer to."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jury_events.text import visible_line
from jury_views.number_formats import dollars, p_value
from jury_views.page import Page
from jury_views.report_sections import FigureNotes, Formats, ReportCell, Section, Sentence, Table, written

if TYPE_CHECKING:
    from jury_analysis.estimate import Estimate
    from jury_analysis.wording import Reason

_NAME = 60
"""Characters of a name that are shown."""


def _name(text: str) -> str:
    return visible_line(text, _NAME)


FORMATS: Formats = {
    "text": _name,
    "verdict": _name,
    "count": "{:,}".format,
    "signed": "{:+,}".format,
    "number": "{:.3f}".format,
    "decimal": "{:.1f}".format,
    "hundredths": "{:.2f}".format,
    "share": "{:.1%}".format,
    "p": p_value,
    "dollars": dollars,
}


def print_sections(page: Page, sections: Iterable[Section], groups: Sequence[str]) -> None:
    """Those of these groups."""
    for one in sections:
        if one.group in groups:
            print_section(page, one)


def others_line(page: Page, sections: Iterable[Section], order: Sequence[str], printed: Sequence[str] = ()) -> None:
    """Which further groups there are."""
    known = {one.group for one in sections} - set(printed)
    if known:
        page.blank()
        names = ", ".join(name for name in order if name in known)
        page.line(f"{'more tables' if printed else 'tables'}: {names}; name some of them, or --full")


class Figures:
    """Writes figures; the reason of a missing one, and notes, are numbered and printed under the section."""

    def __init__(self) -> None:
        self._notes = FigureNotes()

    def cell(self, cell: ReportCell) -> str:
        """As `0.557 [0.501, 0.605] (1)`."""
        one = written(cell, self._notes, "en", FORMATS)
        return " ".join(part for part in (one.value, one.range, *(f"({mark})" for mark in one.marks)) if part)

    def number(self, estimate: "Estimate") -> str:
        """With three decimals."""
        return self.cell(ReportCell(estimate, "number"))

    def share(self, estimate: "Estimate") -> str:
        """In per cent."""
        return self.cell(ReportCell(estimate, "share"))

    def reference(self, note: "Reason") -> str:
        """The mark of a note."""
        return f"({self._notes.add(note)})"

    def print_notes(self, page: Page) -> None:
        """Print the notes that were referred to since the last call."""
        for number, note in enumerate(self._notes.take(), 1):
            page.line(f"({number}) {note}", indent=2)


def print_section(page: Page, section: Section) -> None:
    """Its title and blocks, but for charts, and the notes on its figures."""
    page.heading(section.title)
    figures, tabled = Figures(), False
    for block in section.blocks:
        match block:
            case Sentence():
                page.line(block.text, indent=2)
            case Table():
                if tabled:
                    page.blank()
                _table(page, block, figures)
                tabled = True
            case _:
                pass
    figures.print_notes(page)


def _table(page: Page, table: Table, figures: Figures) -> None:
    rows = [tuple(figures.cell(cell) for cell in row) for row in table.shown(table.few)]
    page.table([tuple(_name(one) for one in table.head), *rows], indent=2)
    if (left := len(table.rows) - table.few) > 0:
        page.line(f"and {left:,} more (--json has all)", indent=2)
