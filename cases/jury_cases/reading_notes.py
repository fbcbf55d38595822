"""What a reading of files found beside the cases: formats, labels, columns that are no part of a case, changes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jury_cases.columns import READ_UNASKED, named_columns, snake_case
from jury_cases.draft import CaseDraft
from jury_cases.file_cases import FileCase
from jury_cases.labels import label_word
from jury_cases.transcripts.authors import RoleRules, SeenRoles
from jury_events.nearest import nearest
from jury_events.text import visible_line

_COLUMNS = 1000
"""The most columns that are counted."""


@dataclass(kw_only=True)
class ReadingNotes:
    """Statistics of a reading: rows by format, labels by word, columns that are not read or kept as metadata by name.

    `taken` says which plain columns parts were read from, `changes` what of rows was read as something else, each with
    the number of rows. `erased` are cases whose texts are gone from the store that they are read from, `rest` says in
    words that the source has not all cases. `roles` are those of the messages of all readings so far, `role_rules` the
    user's rules for them.
    """

    formats: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    erased: dict[str, None] = field(default_factory=dict)
    rest: str | None = None
    roles: SeenRoles = field(default_factory=SeenRoles)
    role_rules: RoleRules = field(default_factory=RoleRules)

    def note(self, found: FileCase, draft: CaseDraft, fields: Mapping[str, str]) -> None:
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
        if form.columns is None or not isinstance(row, dict):
            return
        taken.update(named_columns(row, fields) if fields else ())
        others = row.keys() - READ_UNASKED - form.columns - taken
        for column in filter(others.__contains__, row):
            counts = self.kept if column in draft.kept else self.unread
            if column in counts or len(counts) < _COLUMNS:
                counts[column] += 1

    def unmatched_roles(self) -> tuple[str, ...]:
        """A line for each rule for roles that matched nothing so far."""
        return tuple(self.roles.unmatched(self.role_rules))

    def lines(self) -> Iterator[str]:
        """What the source has not, and unread columns with a similar known name, as lines for people."""
        if self.rest is not None:
            yield self.rest
        for column in (*self.unread, *self.kept):
            if near := nearest(snake_case(column), READ_UNASKED, 0.85):
                shown = visible_line(column, 60)
                yield f"the column {shown} is no part of a case (did you mean {near}?); --field names columns"
