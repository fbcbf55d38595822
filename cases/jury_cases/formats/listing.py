"""The list of formats for people: in the help of commands, and as the table of `docs/cases.md`."""

from collections.abc import Iterator

from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import FORMATS


def format_lines() -> Iterator[tuple[str, str]]:
    """Each format's name and how its rows are recognised; `rows`, the default, first, the others by their names."""
    for name in _ordered():
        yield name, FORMATS[name].recognised_by.replace("`", "")


def format_table() -> str:
    """The formats as a table in Markdown, without a line break at its end."""
    rows = [f"| `{name}` | {FORMATS[name].recognised_by} | {FORMATS[name].shows} |" for name in _ordered()]
    return "\n".join(["| `--format` | recognised by | read |", "| --- | --- | --- |", *rows])


def _ordered() -> list[str]:
    return [OWN_ROWS.name, *sorted(name for name in FORMATS if name != OWN_ROWS.name)]
