"""Streams cases from files: JSON, CSV, Parquet, Arrow, Inspect logs, folders; samples, and the bundled example."""

import io
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from jury_cases.artifact_sources import ArtifactSources
from jury_cases.columns import READ_UNASKED, named_columns, snake_case
from jury_cases.containers.byte_streams import SharedStream
from jury_cases.containers.row import RowSelection
from jury_cases.containers.rows import STDIN, read_rows
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import format_of, rows_path
from jury_cases.joined_rows import FoundRow, at_place, found_rows, joined_rows
from jury_cases.labels import Labels, UnknownLabel, label_word, seen
from jury_cases.omissions import UnreadableRows
from jury_cases.options import EVERY_CASE, CaseOptions
from jury_cases.outline import Fetch, SeenIds, Skip, batches, outlined
from jury_cases.rows import RowReading, case_of_draft, draft_of, quick_case_id
from jury_cases.transcripts.authors import RoleRules, SeenRoles
from jury_events.case import Case
from jury_events.nearest import nearest
from jury_events.panel import Language
from jury_events.text import visible_line

if TYPE_CHECKING:
    from jury_cases.proposal import Proposal


def drawn(cases: Iterable[object], size: int, seed: int) -> frozenset[int]:
    """The numbers, from 0, of `size` cases drawn at random in one pass: reservoir sampling."""
    random = Random(seed)  # noqa: S311  (a reproducible sample)
    numbers: list[int] = []
    for index, _ in enumerate(cases):
        if index < size:
            numbers.append(index)
        elif (place := random.randrange(index + 1)) < size:
            numbers[place] = index
    return frozenset(numbers)


__all__ = ["STDIN", "CaseFiles", "read_cases"]

_COUNTING_SECONDS = 5.0
"""Time limit for counting a file's labels, for the error about an unknown one."""


def _always(_case: Case) -> bool:
    return True


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

    def note(self, found: FoundRow, draft: CaseDraft, fields: Mapping[str, str]) -> None:
        """Count a row that was read."""
        row, form = found.data, found.form
        self.formats[form.name] += 1
        self.changes.update(found.changes)
        self.taken.update([taken] if (taken := _taken_text(draft.taken)) else [])
        self.taken.update([f"{found.second} is close to {form.name}"] if found.second else [])
        if form.columns is None or not isinstance(row, dict):
            return
        known = READ_UNASKED | form.columns | named_columns(row, fields)
        known |= {column for columns in draft.taken.values() for column in columns}
        for column in row.keys() - known:
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
        for column, near in self.slips():
            yield f"the column {column} is no part of a case (did you mean {near}?); --field names columns"

    def slips(self) -> list[tuple[str, str]]:
        """Columns that are no part of a case, with a similar known name, as pairs."""
        columns = (*self.unread, *self.kept)
        found = [(column, nearest(snake_case(column), READ_UNASKED, 0.85)) for column in columns]
        return [(visible_line(column, 60), near) for column, near in found if near]


_COLUMNS = 1000
CHANGES = "read_as"
"""Metadata of a case: what of its row was read as something else."""


def _taken_text(taken: Mapping[str, tuple[str, ...]]) -> str:
    """As `question from input, response from output`; without those that the part is named after."""
    return ", ".join(
        f"{part} from {' and '.join(visible_line(one, 60) for one in columns)}" for part, columns in taken.items()
    )


class _SelectedCase(NamedTuple):
    """A selected case, its row, and the draft that it was made of."""

    case: Case
    row: FoundRow
    draft: CaseDraft


class _NamedRow(NamedTuple):
    """A row with the id of its case, and the case where it had to be built for it, without fetched records."""

    row: FoundRow
    case_id: str
    built: _SelectedCase | None


def _labels(seen_so_far: Counter[str], later: Iterator[_SelectedCase | str]) -> str:
    """The label counts for an error message, as far as they can be counted in `_COUNTING_SECONDS`."""
    counts = Counter(seen_so_far)
    end = time.monotonic() + _COUNTING_SECONDS
    whole = True
    try:
        for found in later:
            word = None if isinstance(found, str) else label_word(found.draft.label)
            counts.update([word] if word is not None else [])
            if time.monotonic() > end:
                whole = False
                break
    except CaseFileError:
        whole = False
    return f"; labels{'' if whole else ' so far'}: {seen(counts)}"


class CaseFiles:
    """The cases of files, in order; each iteration reads the files from the start. Several may go on at once.

    Args:
        paths: files, folders and globs; `-` is standard input.
        options: selection of cases, and how they are read.
        allowed_hosts: allowed hosts of `http(s):` records.
        artifact_roots: allowed folders of record files, besides each file's folder (standard input: the working
            directory).
        stdin: the stream for `-`, read from its start each time if it is seekable; None: the process's.

    Attributes:
        policy: of the cases without one, as in `options`.
        notes: statistics of the latest iteration.
        unreadable: what was left out in any iteration, since it cannot be read.

    Raises:
        CaseFileError: standard input is named twice.
    """

    def __init__(
        self,
        paths: Iterable[str | Path],
        options: CaseOptions = EVERY_CASE,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        artifact_roots: Iterable[str | os.PathLike[str]] = (),
        stdin: BinaryIO | None = None,
    ) -> None:
        self._paths = tuple(paths)
        if [str(path) for path in self._paths].count(STDIN) > 1:
            raise CaseFileError("stdin: - is named twice, and can be read once; name it once")
        self._options = options
        self._hosts = allowed_hosts
        self._roots = tuple(map(Path, artifact_roots))
        self._stdin = stdin
        self._lock = threading.Lock()
        self._sampled: frozenset[int] | None = None
        self._roles_seen = SeenRoles()
        self.notes = ReadingNotes()
        self.unreadable = UnreadableRows(skip=options.skip_unreadable)
        self.policy = options.policy

    @property
    def labels(self) -> Labels:
        """The verdicts of label words."""
        return self._options.words

    def __iter__(self) -> Iterator[Case]:
        return self.read()

    def __call__(self, fetch: Fetch) -> Iterator[Case]:
        """As `read`: the interface that runs expect of a source of cases."""
        return self.read(fetch)

    def read(self, fetch: Fetch = _always) -> Iterator[Case]:
        """The cases, streamed.

        Args:
            fetch: whether to read the records that a case's URIs refer to; called with the case without them.

        Raises:
            CaseFileError: a file, row or field is invalid; raised during iteration.
        """
        for case, _ in self.read_with_formats(fetch):
            yield case

    def read_with_formats(self, fetch: Fetch = _always) -> Iterator[tuple[Case, str]]:
        """As `read`, with the name of the format of each case's row."""
        read = self._chosen if self._options.sample is None else self._sample
        for found in self._taken(read(fetch)):
            assert not isinstance(found, str)
            yield found.case, found.row.form.name

    def proposal(self) -> "Proposal":
        """A draft of a format file for the rows of the first file.

        Raises:
            CaseFileError: it cannot be read.
        """
        from jury_cases.proposal import propose

        rows = read_rows(self._paths[:1], self._selection(), stdin=self._stdin)
        return propose(row.data for row in rows)

    def reading_as(self, content: Mapping[str, Any]) -> "CaseFiles":
        """The same files, read by the content of a format file."""
        options = replace(self._options, format=content)
        return CaseFiles(self._paths, options, allowed_hosts=self._hosts, artifact_roots=self._roots, stdin=self._stdin)

    def outline(self, skip: Skip, fetch: Fetch = _always) -> Iterator[Case | str]:
        """The cases; where `skip` chose a case, its id alone: its row is decoded, and not checked further.

        Where a case is chosen by its fields, every row is read all the same.

        Args:
            skip: called with the ids of the next cases.
            fetch: as for `read`.

        Raises:
            CaseFileError: as `read`.
        """
        if self._options.sample is None:
            taken = self._taken(self._chosen(fetch, skip))
            return (found if isinstance(found, str) else found.case for found in taken)
        return outlined(self.read(fetch), skip)

    def _taken(self, chosen: Iterator[_SelectedCase | str]) -> Iterator[_SelectedCase | str]:
        """At most `limit` cases, with notes and labels checked."""
        options = self._options
        self.notes = notes = ReadingNotes(roles=self._roles_seen, role_rules=options.role_rules)
        if options.limit == 0:
            return
        count = 0
        for found in chosen:
            if isinstance(found, str):
                yield found
            else:
                notes.note(found.row, found.draft, options.fields)
                notes.roles.merge(found.draft.roles)
                word = label_word(found.draft.label)
                notes.labels.update([word] if word is not None else [])
                try:
                    options.words.verdict(found.draft.label)
                except UnknownLabel as error:
                    raise CaseFileError(f"{found.row.row.place}: {error}{_labels(notes.labels, chosen)}") from error
                yield found
            count += 1
            if count == options.limit:
                return
        if not count and (options.where or options.case_ids):
            raise CaseFileError(
                "no case matches --where and --case-id; run jury cases without them to see the fields and ids"
            )

    def _chosen(self, fetch: Fetch, skip: Skip | None = None) -> Iterator[_SelectedCase | str]:
        """The selected cases; without `skip` one row is read after the other."""
        folder = Path()
        sources = self._sources(folder)
        # Unknown labels are accepted here: those of selected cases are checked later.
        reading = replace(self._options.reading, labels=self._options.words.lenient())
        with SeenIds() as ids:
            named = self._named(reading, quickly=skip is not None)
            if skip is None:
                lists: Iterator[list[_NamedRow]] = ([one] for one in named)
            else:
                lists = batches(named, lambda one: one.row.row.size)
            for batch in self._new(lists, ids):
                skipped = () if skip is None else skip([one.case_id for one in batch])
                for one in batch:
                    if one.case_id in skipped:
                        yield one.case_id
                        continue
                    row = one.row.row
                    if row.folder != folder:
                        folder, sources = row.folder, self._sources(row.folder)
                    selected = one.built or _built(one.row, reading)
                    if fetch(selected.case):
                        with at_place(row):
                            selected = selected._replace(case=sources.resolved(selected.case))
                    yield selected

    def _named(self, reading: RowReading, *, quickly: bool) -> Iterator[_NamedRow]:
        """The rows with the ids of their cases; `quickly`: cases are built only where the selection needs it."""
        # Every iteration must leave out the same rows, whatever is skipped in it.
        quickly = quickly and not (self._options.conditions or self._options.skip_unreadable)
        for found in self._rows():
            case_id = quick_case_id(found.data, reading, found.form, found.default_id) if quickly else None
            built = None
            if case_id is None:
                try:
                    built = _built(found, reading)
                except CaseFileError as error:
                    self.unreadable.leave_out(error)
                    continue
                case_id = built.case.case_id
            yield _NamedRow(found, case_id, built)

    def _new(self, lists: Iterator[list[_NamedRow]], ids: SeenIds) -> Iterator[list[_NamedRow]]:
        """The rows of selected cases. A row with the id of an earlier one is refused after those before it."""
        for batch in lists:
            rest = batch
            while rest:
                new = ids.add_all([(one.case_id, one.row.row) for one in rest])
                if chosen := self._selected(rest[:new]):
                    yield chosen
                rest = rest[new:]
                if rest:
                    try:
                        ids.add(rest[0].case_id, rest[0].row.row)
                    except CaseFileError as error:
                        self.unreadable.leave_out(error)
                    else:
                        if chosen := self._selected(rest[:1]):
                            yield chosen
                    rest = rest[1:]

    def _selected(self, batch: list[_NamedRow]) -> list[_NamedRow]:
        options = self._options
        if not options.chooses:
            return batch
        return [
            one
            for one in batch
            if (options.admits_id(one.case_id) if one.built is None else options.admits(one.built.case))
        ]

    def _sources(self, folder: Path) -> ArtifactSources:
        return ArtifactSources(folder, self._hosts, roots=(folder, *self._roots))

    def _rows(self) -> Iterator[FoundRow]:
        """What each case is read from."""
        stdin = self._stdin
        if stdin is not None and stdin.seekable():
            stdin = io.BufferedReader(SharedStream(stdin, self._lock))
        rows = joined_rows(read_rows(self._paths, self._selection(), stdin=stdin), self.unreadable)
        return found_rows(rows, self._options.form, self.unreadable)

    def _selection(self) -> RowSelection:
        options = self._options
        return RowSelection(options.rows, options.split, rows_path, self.unreadable.leave_out, self._is_known)

    def _is_known(self, row: Any) -> bool:
        """Whether a row has a format of its own."""
        form = format_of(row, None)
        return form is self._options.form or form is not OWN_ROWS

    def _sample(self, fetch: Fetch) -> Iterator[_SelectedCase | str]:
        """Reservoir sampling in a first pass over the files; the drawn numbers are kept for later passes."""
        if self._sampled is None:
            self._sampled = drawn(self._chosen(lambda _case: False), self._options.sample or 0, self._options.seed)
        sampled = self._sampled
        number = -1

        def is_drawn(case: Case) -> bool:
            nonlocal number
            number += 1
            return number in sampled and fetch(case)

        last = max(sampled, default=-1)
        if last < 0:
            return
        for index, found in enumerate(self._chosen(is_drawn)):
            if index in sampled:
                yield found
            if index == last:
                return


def _built(found: FoundRow, reading: RowReading) -> _SelectedCase:
    with at_place(found.row, found.name):
        draft = draft_of(found.data, reading, found.form)
        if found.is_incomplete and draft.built is not None:
            draft.built.not_shown("part of the file that cannot be read", "environment", found.row.name)
        if found.changes:
            draft.metadata = {**draft.metadata, CHANGES: "; ".join(found.changes)}
        case = case_of_draft(draft, found.data, reading, found.default_id)
        return _SelectedCase(case.model_copy(update={"position": found.row.position}), found, draft)


def read_cases(
    paths: Iterable[str | Path],
    options: CaseOptions = EVERY_CASE,
    *,
    allowed_hosts: frozenset[str] = frozenset(),
    artifact_roots: Iterable[str | os.PathLike[str]] = (),
    stdin: BinaryIO | None = None,
) -> Iterator[Case]:
    """The cases of the files, once; see `CaseFiles`."""
    files = CaseFiles(paths, options, allowed_hosts=allowed_hosts, artifact_roots=artifact_roots, stdin=stdin)
    return files.read()


def load_example(language: Language) -> Case:
    """The example in English or Japanese: one scenario, 10 Security Gate and 6 Agent Card records, no label."""
    return next(read_cases([example_path(language)]))


def example_path(language: Language) -> Path:
    """The example's file, which also documents the format of a case."""
    return Path(__file__).parent / "example_files" / f"support-{language}.json"
