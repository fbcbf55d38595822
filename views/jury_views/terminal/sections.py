"""Tables of a page by name: a page says first what it comes to, and prints the tables that are asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from jury_views.page import Page

T = TypeVar("T")
Sections = Mapping[str, Callable[[Page, T], None]]
"""What prints each table, by the name that the command takes; one of which nothing is known prints nothing."""


def print_sections(page: Page, sections: "Sections[T]", found: T, names: Sequence[str]) -> None:
    """The tables of these names, in the order of `sections`."""
    for name, prints in sections.items():
        if name in names:
            prints(page, found)


def others_line(page: Page, sections: "Sections[T]", found: Iterable[T], printed: Sequence[str]) -> None:
    """Which further tables there are."""
    each = list(found)
    there = [name for name in sections if name not in printed and any(_there(sections[name], one) for one in each)]
    if there:
        page.blank()
        page.line(f"{'more tables' if printed else 'tables'}: {', '.join(there)}; name some of them, or --full")


def _there(prints: Callable[[Page, T], None], found: T) -> bool:
    page = Page()
    prints(page, found)
    return bool(page.lines)
