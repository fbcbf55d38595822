"""The table of formats in `docs/cases.md`, which this script writes from the code.

uv run --group test python tests/support/format_table.py
"""

from pathlib import Path

from jury_cases import format_table

PAGE = Path(__file__).parents[2] / "docs" / "cases.md"
_BEGIN = "<!-- formats: written by tests/support/format_table.py from the code -->\n\n"
_END = "\n\n<!-- end of formats -->"


def written_table() -> str:
    """The table as it stands in the page."""
    return PAGE.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def write_table() -> None:
    """Write it anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(f"{before}{_BEGIN}{format_table()}{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write_table()
