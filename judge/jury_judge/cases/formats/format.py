"""What a format is."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jury_judge.cases.draft import CaseDraft


class Format(NamedTuple):
    """A form of rows.

    Attributes:
        name: as `--format` names it.
        recognises: whether a decoded row (an object, or a list of messages) has this form.
        read: the row's draft; raises CaseFileError.
        rows_path: the dotted path of the rows in a whole document of this format, None where it is no such document.
        columns: those that it reads besides the columns that are read unasked; None: not known by name.
        split: makes several rows of one, each with what is appended to a default case id; None: one row is one case.
    """

    name: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any], CaseDraft]
    rows_path: Callable[[Mapping[str, Any]], str | None] = lambda _document: None
    split: Callable[[Any], Iterable[tuple[str, Any]]] | None = None
    columns: frozenset[str] | None = None
