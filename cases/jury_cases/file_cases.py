"""What each case of files is read from: a row, one of the cases in it, or rows of one file that its format gathers.

And what a reading found beside the cases: formats, labels, columns that are no part of a case, changes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jury_cases.columns import AUTOMATIC, READ_UNASKED, field_option, filled_columns, named_columns, snake_case
from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_cases.formats.format import Format, Gathering
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import format_of, second_of
from jury_cases.labels import label_word
from jury_cases.missing_values import MISSING_VALUE
from jury_cases.omissions import UnreadableRows
from jury_cases.options import CaseOptions
from jury_cases.transcripts.authors import RoleRules, SeenRoles
from jury_events.case import Case
from jury_events.nearest import nearest
from jury_events.text import pluralize, visible_line

_NAMED = 100
"""Characters of a name in an error."""


_COLUMNS = 1000
"""The most columns that are counted."""


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


def _passed_over(row: dict[str, Any], options: CaseOptions) -> Iterator[tuple[str, str, str]]:
    """The parts that two columns of a row say otherwise: the part, the column that is read, and the other one."""
    for part in _OF_SEVERAL:
        columns = [] if part in options.fields else filled_columns(row, part)
        for other in columns[1:]:
            said = [_said(part, row[one], options) for one in (columns[0], other)]
            if said[1] is not None and said[0] != said[1]:
                yield part, columns[0], other


def _said(part: str, value: Any, options: CaseOptions) -> Any:
    if part != "label":
        return value.strip() or None if isinstance(value, str) else value
    return options.words.position(value, refuse=False) or label_word(value)


_OF_SEVERAL = tuple(part for part, columns in AUTOMATIC.items() if len(columns) > 1 and part != "case_id")


@dataclass(kw_only=True)
class ReadingNotes:
    """Statistics of a reading: rows by format, labels by word, columns that are not read or kept as metadata by name.

    `taken` says which plain columns parts were read from, `changes` what of rows was read as something else, each with
    the number of rows; `passed_over` in how many rows a part is read from one of its columns, and another one says
    otherwise (part, column, the other). `erased` are cases whose texts are gone from the store that they are read from,
    `rest` says in words that the source has not all cases. `roles` are those of the messages of all readings so far,
    `role_rules` the user's rules for them.
    """

    formats: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    erased: dict[str, None] = field(default_factory=dict)
    rest: str | None = None
    roles: SeenRoles = field(default_factory=SeenRoles)
    role_rules: RoleRules = field(default_factory=RoleRules)

    def note(self, found: FileCase, draft: CaseDraft, options: CaseOptions) -> None:
        """Count a row that was read."""
        row, form = found.data, found.form
        self.formats[form.name] += 1
        self.changes.update(found.changes)
        if self.role_rules.targets:
            self.roles.merge(draft.roles)
        if draft.label is not None and (word := label_word(draft.label)) is not None:
            self.labels[word] += 1
        taken: set[str] = set()
        if draft.taken:
            said = []
            for part, columns in draft.taken.items():
                said.append(f"{part} from {' and '.join([visible_line(one, 60) for one in columns])}")
                taken.update(columns)
            self.taken[", ".join(said)] += 1
        if found.second:
            self.taken[f"{found.second} is close to {form.name}"] += 1
        if form.columns is not None and isinstance(row, dict):
            self._note_columns(found, draft, options, taken)

    def _note_columns(self, found: FileCase, draft: CaseDraft, options: CaseOptions, taken: set[str]) -> None:
        row, columns = found.data, found.form.columns
        assert columns is not None, "the form says which it reads"
        if found.form is OWN_ROWS:
            self.passed_over.update(_passed_over(row, options))
        taken.update(named_columns(row, options.fields) if options.fields else ())
        others = row.keys() - READ_UNASKED - columns - taken
        for column in row:  # in its order
            if column not in others:
                continue
            counts = self.kept if column in draft.kept else self.unread
            if column in counts or len(counts) < _COLUMNS:
                counts[column] += 1

    def unmatched_roles(self) -> tuple[str, ...]:
        """A line for each rule for roles that matched nothing so far."""
        return tuple(self.roles.unmatched(self.role_rules)) if self.role_rules.targets else ()

    def columns_passed_over(self) -> Iterator[str]:
        """A line for each column that says otherwise than the one that is read."""
        for (part, column, other), count in self.passed_over.items():
            yield (
                f"{part}: {column} is read, and {other} says otherwise in {pluralize(count, 'row')}; "
                f"{field_option(part, column)} or {field_option(part, other)} settles it"
            )

    def lines(self) -> Iterator[str]:
        """What the source has not, and unread columns with a similar known name, as lines for people."""
        if self.rest is not None:
            yield self.rest
        yield from self.columns_passed_over()
        if missing := [what for what in self.changes if what.endswith(MISSING_VALUE)]:
            cells = sum(self.changes[what] for what in missing)
            words = ", ".join(what.removesuffix(MISSING_VALUE) for what in missing)
            yield f"{words}: read as a missing value in {pluralize(cells, 'row')}, not as a text"
        for column in (*self.unread, *self.kept):
            if near := nearest(snake_case(column), READ_UNASKED, 0.85):
                shown = visible_line(column, 60)
                yield f"the column {shown} is no part of a case (did you mean {near}?); --field names columns"
