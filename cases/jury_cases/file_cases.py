"""What each case of files is read from: a row, one of the cases in it, or rows of one file that its format gathers."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_cases.formats.format import Format, Gathering
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import format_of, second_of
from jury_cases.omissions import UnreadableRows
from jury_events.case import Case
from jury_events.text import visible_line

_NAMED = 100
"""Characters of a name in an error."""


@dataclass(slots=True)
class FileCase:
    """What one case is read from, and what was read so far.

    Attributes:
        row: of the file; the first one of a case that is made of several rows.
        data: what the format reads: the row's data, or the gathered rows.
        form: its format.
        suffix: appended to the default id.
        name: what errors call it beside its place; "" if the place is enough.
        is_incomplete: lines of its file cannot be read, and may belong to this case.
        changes: what of its rows was read as something else.
        second: the name of the format that recognises its first row too; "": there is none.
        case_id: of the case, "" before it is known; `draft`, `case`: None before they are read.
    """

    row: FileRow
    data: Any
    form: Format
    suffix: str = ""
    name: str = ""
    is_incomplete: bool = False
    changes: tuple[str, ...] = ()
    second: str = ""
    case_id: str = ""
    draft: CaseDraft | None = None
    case: Case | None = None

    @property
    def default_id(self) -> str:
        """The id of a case whose data has none: file and row number."""
        return f"{self.row.file}-{self.row.number}{self.suffix}"


class _Gathered:
    """The rows of one file that are gathered by one format."""

    def __init__(self, first: FileRow, form: Format, gathering: Gathering, second: str) -> None:
        self._first = first
        self._second = second
        self._form = form
        self._gathering = gathering
        self._changes: dict[str, None] = {}

    def takes(self, row: FileRow, asked: Format | None) -> bool:
        if row.name != self._first.name:
            return False
        return self._gathering.takes(row.data) or format_of(row.data, asked) is self._form

    def add(self, row: FileRow, unreadable: UnreadableRows) -> None:
        """Add a row; one that cannot be read is left out, or refused."""
        try:
            with at_place(row):
                self._gathering.add(row)
            self._changes |= dict.fromkeys(row.changes)
        except CaseFileError as error:
            unreadable.leave_out(error)

    def cases(self, unreadable: UnreadableRows) -> Iterator[FileCase]:
        cases = self._gathering.cases()
        is_incomplete = unreadable.lacks(self._first.name)
        while True:
            row = self._first
            try:
                with at_place(row):
                    one = next(cases, None)
                if one is None:
                    return
                if isinstance(one.data, CaseFileError):
                    with at_place(one.row):
                        raise one.data
            except CaseFileError as error:
                unreadable.leave_out(error)
                continue
            changes = tuple(self._changes)
            yield FileCase(one.row, one.data, self._form, one.suffix, one.name, is_incomplete, changes, self._second)


def file_cases(rows: Iterable[FileRow], asked: Format | None, unreadable: UnreadableRows) -> Iterator[FileCase]:
    """What the cases of files are read from, in order; gathered cases follow the last row of their file.

    Args:
        asked: the format of all rows; None: the format of each row is detected.
    """
    gathered: _Gathered | None = None
    seconds: dict[str, str] = {}
    for row in rows:
        if gathered is not None:
            if gathered.takes(row, asked):
                gathered.add(row, unreadable)
                continue
            yield from gathered.cases(unreadable)
            gathered = None
        form = format_of(row.data, asked)
        if form.name not in seconds:
            other = None if asked is not None or form is OWN_ROWS else second_of(row.data, form)
            seconds[form.name] = "" if other is None else other.name
        if form.cases is not None:
            try:
                with at_place(row):
                    listed = form.cases(row.data)
            except CaseFileError as error:
                unreadable.leave_out(error)
                continue
            for number, data in enumerate(listed, start=1):
                yield FileCase(row, data, form, f"-{number}", f"case {number}", changes=row.changes)
        elif form.gather is None:
            yield FileCase(row, row.data, form, changes=row.changes, second=seconds[form.name])
        else:
            gathered = _Gathered(row, form, form.gather(), seconds[form.name])
            gathered.add(row, unreadable)
    if gathered is not None:
        yield from gathered.cases(unreadable)


@contextmanager
def at_place(row: FileRow, name: str = "") -> Iterator[None]:
    """Errors name the place of the row, and what is read there (`name`)."""
    try:
        yield
    except (CaseFileError, ArtifactSourceError) as error:
        place = f"{row.place}: {visible_line(name, _NAMED)}" if name else row.place
        text = str(error)
        raise CaseFileError(text if text.startswith(row.place) else f"{place}: {text}") from error
