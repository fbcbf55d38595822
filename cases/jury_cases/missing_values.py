"""Words that tables of texts have where a value is missing: what pandas, R, databases and spreadsheets write there."""

from collections.abc import Collection, Iterable
from typing import Any

from jury_cases.columns import AUTOMATIC, snake_case
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import OWN_ROWS, STRUCTURED
from jury_cases.options import CaseOptions

MISSING = frozenset(
    {
        *("nan", "NaN", "NAN", "-nan", "NaT", "None", "<NA>", "NA", "N/A", "n/a", "NULL", "Null", "null"),
        *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!"),
    }
)
"""In whole cells. They may also be what an agent wrote, or a word of a label: each is counted by name."""


MISSING_VALUE = " as a missing value"
"""The end of a line that says so, after the word."""


def without_missing(row: dict[str, Any], form: Format, options: CaseOptions) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A row of a table of texts with None for each of these words, and what was read so, in words.

    A label that is understood, or that `--map` gives a meaning, stays.
    """
    found = {
        name: cell
        for name, cell in row.items()
        if isinstance(cell, str) and cell.strip() in MISSING and not (cell == "null" and name in STRUCTURED)
    }
    if not found:
        return row, ()
    labels = _label_columns(row, form, options)
    words = {name: cell.strip() for name, cell in found.items() if name not in labels or not _means(cell, options)}
    changes = tuple(f"{word}{MISSING_VALUE}" for word in dict.fromkeys(words.values()))
    return {**row, **dict.fromkeys(words)}, changes


def _label_columns(row: Iterable[str], form: Format, options: CaseOptions) -> Collection[str]:
    if "label" in options.fields:
        return {options.fields["label"]}
    return [name for name in row if form is not OWN_ROWS or snake_case(name) in AUTOMATIC["label"]]


def _means(cell: str, options: CaseOptions) -> bool:
    labels = options.words
    return cell.strip() in labels.words or labels.position(cell, refuse=False) is not None
