"""The list of formats in the documentation and in the help is that of the code."""

from pathlib import Path

from jury_cases import FORMATS, format_lines, format_table
from support.command_line import CommandLine
from support.format_table import written_table


def test_the_table_of_the_documentation_is_that_of_the_code() -> None:
    assert format_table() == written_table(), "write it anew: uv run --group test python tests/support/format_table.py"


def test_each_format_says_how_it_is_recognised_and_what_is_read() -> None:
    assert [] == [name for name, form in FORMATS.items() if not (form.recognised_by and form.shows)]


def test_the_help_lists_the_formats(tmp_path: Path) -> None:
    of_cases, of_run = (" ".join(CommandLine(tmp_path)(name, "--help").out.split()) for name in ("cases", "run"))

    for name, recognised_by in format_lines():
        assert f" {name} {' '.join(recognised_by.split())}" in of_cases
        assert f" {name}" in of_run.replace("- ", "-")  # lines may end at a hyphen
