"""The interface of a row format."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jury_judge.cases.draft import CaseDraft


class Format(NamedTuple):
    """A format of rows.

    Attributes:
        name: in `--format`.
        recognises: whether a decoded row (an object, or a list of messages) has this format.
        read: the row's draft; raises CaseFileError.
        rows_path: the dotted path of the rows in a document of this format; None: not such a document.
        columns: the columns that it reads besides the default ones; None: not known by name.
        split: splits a row into several, each with a suffix for a default case id; None: one row is one case.
    """

    name: str
    recognises: Callable[[Any], bool]
    read: Callable[[Any], CaseDraft]
    rows_path: Callable[[Mapping[str, Any]], str | None] = lambda _document: None
    split: Callable[[Any], Iterable[tuple[str, Any]]] | None = None
    columns: frozenset[str] | None = None
