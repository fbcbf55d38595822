"""Lines for a terminal or a file, printed without markup and control characters."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from jury_events.text import visible
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict

if TYPE_CHECKING:
    from rich.console import Console


_AT_ONCE = 1000
"""Lines that are written together to a file."""


class TextSpan(NamedTuple):
    """A span of a line in one style (a rich style, "" for none)."""

    text: str
    style: str = ""


class TextLine(NamedTuple):
    """One line, indented by `indent` columns."""

    spans: tuple[TextSpan, ...]
    indent: int = 0

    @property
    def plain(self) -> str:
        """The line without styles; nothing where it is empty."""
        return f"{' ' * self.indent}{''.join(span.text for span in self.spans)}" if self.spans else ""


@dataclass
class Page:
    """Builds lines; every text is made visible first."""

    lines: list[TextLine] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """A heading, after a blank line."""
        if self.lines:
            self.blank()
        self.line(TextSpan(text, "bold cyan"))

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """A line a fact: its name, and what it says, below each other."""
        from rich.cells import cell_len  # noqa: PLC0415  (spans are also made where nothing is printed)

        made = list(rows)
        width = max((cell_len(name) for name, _ in made), default=0)
        for name, said in made:
            self.line(TextSpan(f"{name}{' ' * (width - cell_len(name))}  ", "bold"), said)

    def blank(self) -> None:
        self.lines.append(TextLine(()))

    def line(self, *spans: TextSpan | str, indent: int = 0) -> None:
        """One line; a line break in a span shows as ␊."""
        made = (span if isinstance(span, TextSpan) else TextSpan(span) for span in spans)
        shown = tuple(TextSpan(visible(span.text).replace("\n", "␊"), span.style) for span in made)
        self.lines.append(TextLine(shown, indent))

    def text(self, text: str, *, indent: int = 0, style: str = "") -> None:
        for row in visible(text).split("\n"):
            self.lines.append(TextLine((TextSpan(row, style),) if row else (), indent))

    def table(self, rows: Sequence[tuple[str, ...]], *, indent: int = 0, right: Collection[int] = ()) -> None:
        """Columns aligned by display width, those of the places `right` at their ends; the first row is the heading."""
        from rich.cells import cell_len  # noqa: PLC0415  (likewise)

        shown = [tuple(visible(cell).replace("\n", "␊") for cell in row) for row in rows]
        widths = [max(cell_len(cell) for cell in column) for column in zip(*shown, strict=True)]
        for index, row in enumerate(shown):
            rooms = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
            cells = (
                room + cell if n in right else cell + room
                for n, (cell, room) in enumerate(zip(row, rooms, strict=True))
            )
            self.lines.append(TextLine((TextSpan("  ".join(cells).rstrip(), "" if index else "dim"),), indent))

    def print(self, console: "Console") -> None:
        """Styled and wrapped at the indent on a colour terminal; else plain, unwrapped lines."""
        from rich.padding import Padding  # noqa: PLC0415  (likewise)
        from rich.segment import Segment, Segments  # noqa: PLC0415  (likewise)
        from rich.text import Text  # noqa: PLC0415  (likewise)

        if not console.is_terminal:
            self._print_plain(console)
            return
        for line in self.lines:
            text = Text(end="")
            for span in line.spans:
                text.append(span.text, style="" if console.no_color else span.style)
            if not line.spans:
                console.print()
            elif "\t" in text.plain:
                # Rich writes spaces for the tabs of a text.
                console.print(Segments([Segment(f"{line.plain}\n")]), end="", soft_wrap=True)
            else:
                console.print(Padding(text, (0, 0, 0, line.indent), expand=False), highlight=False)

    def _print_plain(self, console: "Console") -> None:
        """Many lines at once: rich takes longer for each call than for its text."""
        from rich.segment import Segment, Segments  # noqa: PLC0415  (likewise)

        for start in range(0, len(self.lines), _AT_ONCE):
            text = "".join(f"{line.plain}\n" for line in self.lines[start : start + _AT_ONCE])
            console.print(Segments([Segment(text)]), end="", soft_wrap=True)


VERDICTS = {
    PASS: (f"✓ {PASS}", "green"),
    REVIEW: (f"? {REVIEW}", "yellow"),
    FAIL: (f"✗ {FAIL}", "red"),
}
"""Text and rich style."""


def verdict_text(verdict: Verdict, label: str | None) -> tuple[str, str]:
    """Text and style of a verdict; the word of the panel's own scale stands before its outcome."""
    text, style = VERDICTS[verdict]
    return (text, style) if label is None else (f"{text[0]} {label} ({text[2:]})", style)
