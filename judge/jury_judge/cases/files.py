"""Case files: JSON, CSV, Parquet, Arrow and Inspect logs, and folders of them, read one case at a time."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, BinaryIO, NamedTuple

from jury_events.case import Case
from jury_judge.cases.artifact_sources import ArtifactSources
from jury_judge.cases.columns import AUTOMATIC
from jury_judge.cases.containers.row import Row, Selection
from jury_judge.cases.containers.rows import STDIN, read_rows
from jury_judge.cases.formats.format import Format
from jury_judge.cases.formats.otel_traces import OTEL, TraceGatherer
from jury_judge.cases.formats.own_rows import OWN_ROWS
from jury_judge.cases.formats.registry import format_of, rows_path
from jury_judge.cases.labels import Labels, UnknownLabel, label_word, seen
from jury_judge.cases.options import EVERY_CASE, CaseOptions
from jury_judge.cases.rows import draft_of, read_case
from jury_judge.cases.seen_ids import SeenIds
from jury_judge.errors import ArtifactSourceError, CaseFileError

__all__ = ["STDIN", "CaseFiles", "read_cases"]

_COUNTING_SECONDS = 5.0
"""How long the labels of a file are counted once one of them is not understood."""

Fetch = Callable[[Case], bool]


def _always(_case: Case) -> bool:
    return True


@dataclass(kw_only=True)
class ReadingNotes:
    """What was seen in files: rows by format, labels by word, and columns that nothing was read from by name."""

    formats: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)

    def note(self, row: Any, format_name: str, fields: Mapping[str, str]) -> None:
        """One more row. Of other formats than our own rows, the columns that are read are not known by name."""
        self.formats[format_name] += 1
        if format_name != OWN_ROWS.name or not isinstance(row, dict):
            return
        named = {source if source in row else source.partition(".")[0] for source in fields.values()}
        for column in row:
            if column not in _READ_UNASKED and column not in named and len(self.unread) < _COLUMNS:
                self.unread[column] += 1


_READ_UNASKED = frozenset(column for columns in AUTOMATIC.values() for column in columns)
_COLUMNS = 1000


class _FoundRow(NamedTuple):
    """A row of a file, or one of several that its format makes of it; `suffix` follows a default id."""

    row: Row
    suffix: str
    data: Any
    form: Format


class _Export:
    """The batches of an OTLP file that follow one another: a trace may be spread over them."""

    def __init__(self, first: Row) -> None:
        self.first = first
        self._gatherer = TraceGatherer()

    def add(self, row: Row) -> None:
        """One more batch; raises CaseFileError."""
        try:
            self._gatherer.add(row.data)
        except CaseFileError as error:
            raise CaseFileError(f"{row.place}: {error}") from error

    def rows(self) -> Iterator[_FoundRow]:
        """A row of each trace; raises CaseFileError where there is none."""
        try:
            for number, (name, data) in enumerate(self._gatherer.traces(), start=1):
                yield _FoundRow(self.first, f"-{name or number}", data, OTEL)
        except CaseFileError as error:
            raise CaseFileError(f"{self.first.place}: {error}") from error


class CaseFiles:
    """The cases of files, in order; read from the start each time that they are asked for.

    Args:
        paths: files, folders and globs; `-` is standard input.
        options: which cases, and how they are read.
        allowed_hosts: where `http(s):` records may come from.
        stdin: what `-` reads, rewound each time where it can be; None is the process's.

    Attributes:
        notes: what was seen in the latest reading.

    Raises:
        CaseFileError: standard input is named twice.
    """

    def __init__(
        self,
        paths: Iterable[str | Path],
        options: CaseOptions = EVERY_CASE,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        stdin: BinaryIO | None = None,
    ) -> None:
        self._paths = tuple(paths)
        if [str(path) for path in self._paths].count(STDIN) > 1:
            raise CaseFileError("stdin: - is named twice, and can be read once; name it once")
        self._options = options
        self._hosts = allowed_hosts
        self._stdin = stdin
        self._sampled: frozenset[int] | None = None
        self.notes = ReadingNotes()

    @property
    def labels(self) -> Labels:
        """What the words of labels mean."""
        return self._options.words

    def __iter__(self) -> Iterator[Case]:
        return self.read()

    def __call__(self, fetch: Fetch) -> Iterator[Case]:
        """As `read`: what a run takes for its cases."""
        return self.read(fetch)

    def read(self, fetch: Fetch = _always) -> Iterator[Case]:
        """The cases, streamed.

        Args:
            fetch: whether the records that a case's URIs lead to are read; it is asked with the case without them.

        Raises:
            CaseFileError: a file, a row or a field of it cannot be read, on the way.
        """
        limit = self._options.limit
        if limit == 0:
            return
        chosen = self._chosen(fetch) if self._options.sample is None else self._sample(fetch)
        for count, case in enumerate(chosen, start=1):
            yield case
            if count == limit:
                return

    def _chosen(self, fetch: Fetch) -> Iterator[Case]:
        options = self._options
        sources = ArtifactSources(Path(), self._hosts)
        folder = Path()
        labels = options.words.counting()
        notes = self.notes = ReadingNotes(labels=labels.seen)
        reading = replace(options.reading, labels=labels)
        with SeenIds() as ids:
            rows = self._rows()
            for row, suffix, data, form in rows:
                if row.folder != folder:
                    folder, sources = row.folder, ArtifactSources(row.folder, self._hosts)
                notes.note(data, form.name, options.fields)
                try:
                    case = read_case(data, reading, default_id=f"{row.file}-{row.number}{suffix}", form=form)
                    ids.add(case.case_id, row)
                    if not options.admits(case):
                        continue
                    read = sources.resolved(case) if fetch(case) else case
                except UnknownLabel as error:
                    raise CaseFileError(f"{row.place}: {error}{self._labels(labels, rows)}") from error
                except (CaseFileError, ArtifactSourceError) as error:
                    at_place = str(error).startswith(row.place)
                    raise CaseFileError(str(error) if at_place else f"{row.place}: {error}") from error
                yield read

    def _rows(self) -> Iterator[_FoundRow]:
        """The rows with what they hold: one case each, several where a format says so."""
        options = self._options
        if self._stdin is not None and self._stdin.seekable():
            self._stdin.seek(0)
        selection = Selection(options.rows, options.split, rows_path)
        export: _Export | None = None
        for row in read_rows(self._paths, selection, stdin=self._stdin):
            form = format_of(row.data, options.format)
            if export is not None and (form is not OTEL or row.name != export.first.name):
                yield from export.rows()
                export = None
            if form is OTEL:
                export = export or _Export(row)
                export.add(row)
            else:
                yield _FoundRow(row, "", row.data, form)
        if export is not None:
            yield from export.rows()

    def _labels(self, labels: Labels, rows: Iterator[_FoundRow]) -> str:
        """What labels the files hold, as far as they can be counted in a few seconds."""
        counts = Counter(labels.seen)
        end = time.monotonic() + _COUNTING_SECONDS
        whole = True
        try:
            for _, _, data, form in rows:
                word = label_word(draft_of(data, self._options.reading, form).label)
                counts.update([word] if word is not None else [])
                if time.monotonic() > end:
                    whole = False
                    break
        except CaseFileError:
            whole = False
        return f"; labels{'' if whole else ' so far'}: {seen(counts)}"

    def _sample(self, fetch: Fetch) -> Iterator[Case]:
        """Reservoir sampling over a first reading, whose numbers are kept."""
        if self._sampled is None:
            self._sampled = self._drawn()
        drawn = self._sampled
        number = -1

        def is_drawn(case: Case) -> bool:
            nonlocal number
            number += 1
            return number in drawn and fetch(case)

        last = max(drawn, default=-1)
        if last < 0:
            return
        for index, case in enumerate(self._chosen(is_drawn)):
            if index in drawn:
                yield case
            if index == last:
                return

    def _drawn(self) -> frozenset[int]:
        size = self._options.sample or 0
        random = Random(self._options.seed)  # noqa: S311  (a sample that anybody can draw again)
        drawn: list[int] = []
        for index, _ in enumerate(self._chosen(lambda _case: False)):
            if index < size:
                drawn.append(index)
            elif (place := random.randrange(index + 1)) < size:
                drawn[place] = index
        return frozenset(drawn)


def read_cases(
    paths: Iterable[str | Path],
    options: CaseOptions = EVERY_CASE,
    *,
    allowed_hosts: frozenset[str] = frozenset(),
    stdin: BinaryIO | None = None,
) -> Iterator[Case]:
    """The cases of the files, once; see `CaseFiles`."""
    return CaseFiles(paths, options, allowed_hosts=allowed_hosts, stdin=stdin).read()
