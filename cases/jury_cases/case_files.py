"""Streams cases from files: JSON, CSV, Parquet, Arrow, Inspect logs, folders; selections and samples of them."""

import io
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from jury_cases.artifact_sources import ArtifactSources
from jury_cases.case_of_row import case_of_draft, draft_of, quick_case_id
from jury_cases.case_outlines import Fetch, Skip, batches, drawn
from jury_cases.containers.byte_streams import SharedStream
from jury_cases.containers.row import RowSelection
from jury_cases.containers.rows import STDIN, read_rows
from jury_cases.errors import CaseFileError
from jury_cases.file_cases import FileCase, ReadingNotes, at_place, file_cases
from jury_cases.formats.own_rows import OWN_ROWS
from jury_cases.formats.registry import format_of, rows_path
from jury_cases.kept_rows import SeenIds, joined_rows
from jury_cases.labels import Labels, UnknownLabel, label_word, seen
from jury_cases.missing_values import without_missing
from jury_cases.omissions import UnreadableRows
from jury_cases.options import EVERY_CASE, CaseOptions
from jury_cases.transcripts.authors import SeenRoles
from jury_events.case import Case
from jury_events.panel import Language

if TYPE_CHECKING:
    from jury_cases.proposal import Proposal

_COUNTING_SECONDS = 5.0
"""Time limit for counting a file's labels, for the error about an unknown one."""

_CHANGES = "read_as"
"""Metadata of a case: what of its row was read as something else."""


def _always(_case: Case) -> bool:
    return True


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
        if list(map(str, self._paths)).count(STDIN) > 1:
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
        leave_out = self.unreadable.leave_out
        self._selection = RowSelection(options.rows, options.split, rows_path, leave_out, self._is_known)

    @property
    def labels(self) -> Labels:
        """The verdicts of label words."""
        return self._options.words

    def __iter__(self) -> Iterator[Case]:
        return self.read()

    def read(self, fetch: Fetch = _always) -> Iterator[Case]:
        """The cases, streamed.

        Args:
            fetch: whether to read the records that a case's URIs refer to; called with the case without them.
        """
        for found in self._found(fetch):
            assert found.case is not None
            yield found.case

    __call__ = read
    """The interface that runs expect of a source of cases."""

    def read_with_formats(self, fetch: Fetch = _always) -> Iterator[tuple[Case, str]]:
        """As `read`, with the name of the format of each case's row."""
        for found in self._found(fetch):
            assert found.case is not None
            yield found.case, found.form.name

    def outline(self, skip: Skip, fetch: Fetch = _always) -> Iterator[Case | str]:
        """The cases; where `skip` chose a case, its id alone: its row is decoded, and not checked further.

        Where a case is chosen by its fields, every row is read all the same.

        Args:
            skip: called with the ids of the next cases.
            fetch: as for `read`.
        """
        for found in self._found(fetch, skip):
            yield found.case_id if found.case is None else found.case

    def proposal(self) -> "Proposal":
        """A draft of a format file for the rows of the first file."""
        from jury_cases.proposal import propose

        return propose(row.data for row in read_rows(self._paths[:1], self._selection, stdin=self._stdin))

    def reading_as(self, content: Mapping[str, Any]) -> "CaseFiles":
        """The same files, read by the content of a format file."""
        options = replace(self._options, format=content)
        return CaseFiles(self._paths, options, allowed_hosts=self._hosts, artifact_roots=self._roots, stdin=self._stdin)

    def _found(self, fetch: Fetch, skip: Skip | None = None) -> Iterator[FileCase]:
        """At most `limit` cases, those of the sample, with notes and labels checked."""
        options = self._options
        self.notes = notes = ReadingNotes(roles=self._roles_seen, role_rules=options.role_rules)
        if options.limit == 0:
            return
        if options.sample is not None and self._sampled is None:
            # A first pass over the files; the drawn numbers are kept for later passes.
            self._sampled = drawn(self._named(quickly=False), options.sample, options.seed)
        chosen = self._chosen(fetch, skip)
        count = 0
        for count, found in enumerate(chosen, start=1):
            if found.draft is not None:
                notes.note(found, found.draft, options)
                if found.draft.label is not None:
                    try:
                        options.words.position(found.draft.label)
                    except UnknownLabel as error:
                        raise CaseFileError(f"{found.row.place}: {error}{_labels(notes.labels, chosen)}") from error
            yield found
            if count == options.limit:
                return
        if not count and (options.where or options.case_ids):
            raise CaseFileError(
                "no case matches --where and --case-id; run jury cases without them to see the fields and ids"
            )

    def _chosen(self, fetch: Fetch, skip: Skip | None) -> Iterator[FileCase]:
        """The selected rows, each read unless it is skipped; without `skip` one row is read after the other."""
        folder: Path | None = None
        named = self._named(quickly=skip is not None)
        if (drawn := self._sampled) is not None:
            last = max(drawn, default=-1)
            named = (one for number, one in enumerate(islice(named, last + 1)) if number in drawn)
        lists = batches(named, most=1) if skip is None else batches(named, lambda one: one.row.size)
        for batch in lists:
            skipped = () if skip is None else skip([one.case_id for one in batch])
            for one in batch:
                if one.case_id in skipped:
                    one.case = one.draft = None
                    yield one
                    continue
                case = one.case or self._read(one)
                # Records that a case names come from its file's folder, from allowed ones, or from allowed hosts.
                if fetch(case) and not (case.security_gate_uri is None and case.agent_card_uri is None):
                    if one.row.folder != folder:
                        folder = one.row.folder
                        sources = ArtifactSources(folder, self._hosts, roots=(folder, *self._roots))
                    with at_place(one.row):
                        one.case = sources.resolved(case)
                yield one

    def _named(self, *, quickly: bool) -> Iterator[FileCase]:
        """The selected rows with the ids of their cases; `quickly`: cases are read only where that needs it.

        No two cases have one id, chosen or not.
        """
        options = self._options
        # Every iteration must leave out the same rows, whatever is skipped in it.
        quickly = quickly and not (options.conditions or options.skip_unreadable)
        stdin = self._stdin
        if stdin is not None and stdin.seekable():
            stdin = io.BufferedReader(SharedStream(stdin, self._lock))
        rows = joined_rows(read_rows(self._paths, self._selection, stdin=stdin), self.unreadable)
        with closing(SeenIds()) as ids:
            for found in file_cases(rows, options.form, self.unreadable):
                if found.row.texts and isinstance(found.data, dict):
                    found.data, missing = without_missing(found.data, found.form, options)
                    found.changes += missing
                try:
                    if quickly:
                        found.case_id = quick_case_id(found.data, options, found.form, found.default_id) or ""
                    found.case_id = found.case_id or self._read(found).case_id
                    ids.add(found.case_id, found.row)
                except CaseFileError as error:
                    self.unreadable.leave_out(error)
                    continue
                if options.admits(found.case_id, found.case):
                    yield found

    def _read(self, found: FileCase) -> Case:
        """Read a row; a label that is not understood is refused later, where its case is selected."""
        options = self._options
        with at_place(found.row, found.name):
            found.draft = draft = draft_of(found.data, options, found.form)
            if found.is_incomplete and draft.built is not None:
                draft.built.not_shown("part of the file that cannot be read", "environment", found.row.name)
            if found.changes:
                draft.metadata = {**draft.metadata, _CHANGES: "; ".join(found.changes)}
            case = case_of_draft(draft, found.data, options, found.default_id, refuse_labels=False)
        found.case = case.model_copy(update={"position": found.row.position})
        return found.case

    def _is_known(self, row: Any) -> bool:
        form = format_of(row, None)
        return form is self._options.form or form is not OWN_ROWS


def _labels(seen_so_far: Counter[str], later: Iterator[FileCase]) -> str:
    """The label counts for an error message, as far as they can be counted in `_COUNTING_SECONDS`."""
    counts = Counter(seen_so_far)
    end = time.monotonic() + _COUNTING_SECONDS
    whole = True
    try:
        for found in later:
            word = None if found.draft is None else label_word(found.draft.label)
            counts.update([word] if word is not None else [])
            if time.monotonic() > end:
                whole = False
                break
    except CaseFileError:
        whole = False
    return f"; labels{'' if whole else ' so far'}: {seen(counts)}"


def load_example(language: Language) -> Case:
    """The example in English or Japanese: one scenario, 10 Security Gate and 6 Agent Card records, no label."""
    return next(CaseFiles([example_path(language)]).read())


def example_path(language: Language) -> Path:
    """The example's file, which also documents the format of a case."""
    return Path(__file__).parent / "example_files" / f"support-{language}.json"
