"""What the cases of files consist of, as a terminal page."""

from typing import TYPE_CHECKING

from jury_events.text import shown_size, visible_line
from jury_views.page import Page

if TYPE_CHECKING:
    from jury_judge import CaseSummary
    from jury_judge.runs.case_fit import CaseFit
    from jury_judge.runs.case_preview import FormatSummary

_MOST = 20
"""Speakers and kinds of omissions that are named of one format."""


def summary_page(summary: "CaseSummary") -> Page:
    """One table of formats; then for each format its items, its speakers and what is not shown."""
    page = Page()
    for what, count in summary.taken.most_common():
        page.line(f"{what} ({count:,})")
    rows: list[tuple[str, ...]] = [("format", "cases", "items", "speakers", "not shown")]
    for name, one in summary.formats.items():
        hidden = sum(found.times for found in one.omissions.kinds.values())
        rows.append(
            (name, f"{one.omissions.cases:,}", f"{one.items.total():,}", f"{len(one.speakers):,}", f"{hidden:,}")
        )
    page.table(rows)
    for name, one in summary.formats.items():
        _format(page, name, one)
    _fit(page, summary.fit)
    return page


def _fit(page: Page, fit: "CaseFit") -> None:
    """A table of the seats: the windows of their models, and how many cases each reads how."""
    page.heading("fit")
    rows: list[tuple[str, ...]] = [("seat", "model", "window", "whole", "in parts", "outline", "too long")]
    for seat in fit.seats:
        counts = (fit.cases - seat.not_whole - seat.too_long, seat.parts.total(), seat.outlined, seat.too_long)
        window = "not known" if seat.window is None else f"{seat.window:,}"
        rows.append((seat.name, seat.model, window, *(f"{count:,}" for count in counts)))
    page.table(rows, indent=2)
    for line in fit.lines():
        page.line(line, indent=2)


def _format(page: Page, name: str, one: "FormatSummary") -> None:
    page.heading(name)
    _counted(page, "items", list(one.items.most_common()))
    _counted(page, "speakers", list(one.speakers.most_common()))
    kinds = one.omissions.kinds
    if not kinds:
        page.line("not shown: nothing; every part of every transcript is shown to some juror", indent=2)
        return
    rows: list[tuple[str, ...]] = [("not shown", "times", "cases", "size")]
    for what, found in list(kinds.items())[:_MOST]:
        size = shown_size(found.size) if found.whole else "unknown"
        rows.append((what, f"{found.times:,}", f"{found.cases:,}", size))
    page.table(rows, indent=2)
    if len(kinds) > _MOST:
        page.line(f"and {len(kinds) - _MOST} more kinds", indent=2)


def _counted(page: Page, what: str, counts: list[tuple[str, int]]) -> None:
    if not counts:
        page.line(f"{what}: none", indent=2)
        return
    page.table([(what, "count"), *((visible_line(name, 60), f"{count:,}") for name, count in counts[:_MOST])], indent=2)
    if len(counts) > _MOST:
        page.line(f"and {len(counts) - _MOST} more", indent=2)
