"""Lines for a file: as they are, however many."""

from io import StringIO

import pytest
from rich.console import Console

from jury_views.page import Page, TextSpan


def printed(page: Page) -> str:
    out = StringIO()
    page.print(Console(file=out, width=20))
    return out.getvalue()


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2500])
def test_every_line_is_written_once_and_in_order(count: int) -> None:
    page = Page()
    page.text("\n".join(f"line {number}" for number in range(count)), indent=2)

    assert ("".join(f"  line {number}\n" for number in range(count)) or "\n") == printed(page)


def test_a_file_has_no_styles_no_wrapping_and_the_tabs_of_a_text() -> None:
    page = Page()
    page.line(TextSpan("[bold]x[/bold]", "bold red"), " " * 30, "end", indent=2)
    page.blank()
    page.text("a\tb\n\nc  ", indent=1)

    assert f"  [bold]x[/bold]{' ' * 30}end\n\n a\tb\n\n c  \n" == printed(page)
