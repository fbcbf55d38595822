"""Cases as passed by Python callers: `Case` objects, rows as in a case file, or case files."""

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

from jury_cases.artifact_sources import ArtifactSources
from jury_cases.case_files import CaseFiles
from jury_cases.case_of_row import read_case
from jury_cases.case_outlines import Fetch
from jury_cases.containers.row import FileRow
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_cases.formats.registry import AskedFormat
from jury_cases.kept_rows import SeenIds
from jury_cases.labels import Labels
from jury_cases.options import CaseOptions
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.verdict_scale import VerdictScale

T = TypeVar("T")

CaseInput = Case | Mapping[str, Any]
"""A case, or a mapping with the fields of a case file's row."""

Roots = Sequence[Path] | None
"""Allowed folders of record files."""


def case_of(
    given: CaseInput,
    default_id: str = "case",
    scale: VerdictScale | None = None,
    *,
    form: AskedFormat = None,
    policy: str | None = None,
) -> Case:
    """The case, without records referred to by URI.

    Args:
        default_id: its id where it has none.
        form: a row's format, as in `CaseOptions.format`; None: it is recognised.
    """
    if isinstance(given, Case):
        return given
    if not isinstance(given, Mapping):
        raise CaseFileError(f"a case is a Case or a table of its fields, not a {type(given).__name__}")
    row = {str(name): list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    labels = Labels(scale=scale, mappable=False)
    options = CaseOptions(format=form, labels=labels, policy=policy, has_options=False)
    return read_case(row, options, default_id=default_id)


def given_case(cases: T | None, question: str | None, response: str | None) -> "T | Mapping[str, Any]":
    """What is to be judged: what was given, or a row of a question and its response."""
    if (cases is None) == (question is None and response is None) or (question is None) != (response is None):
        raise SettingError("give what is to be judged: a case or row, or both question=… and response=…")
    return {"question": question, "response": response} if cases is None else cases


def with_records(case: Case, hosts: frozenset[str], roots: Roots = None) -> Case:
    """The case with the records that its URIs refer to; relative paths are resolved in the working directory."""
    return _resolved(case, ArtifactSources(Path(), hosts, roots=roots))


def case_source(
    cases: Iterable[CaseInput] | str | os.PathLike[str],
    hosts: frozenset[str],
    roots: Roots = None,
    scale: VerdictScale | None = None,
) -> Callable[[Fetch], Iterator[Case]]:
    """A function that iterates the cases from the start at each call; an iterator's cases are kept in a file.

    Args:
        cases: cases, `CaseFiles`, or the path of case files.
        hosts: allowed hosts of `http(s):` records.
        roots: allowed folders of record files, besides the case file's folder; None: no others for case files, any
            for cases and mappings.
    """
    if isinstance(cases, str | os.PathLike):
        options = CaseOptions(labels=Labels(scale=scale))
        return CaseFiles([os.fspath(cases)], options, allowed_hosts=hosts, artifact_roots=roots or ())
    if isinstance(cases, CaseFiles):
        return cases
    if not _are_cases(cases):
        raise CaseFileError(f"cases: must be cases, or the path of a case file, not a {type(cases).__name__}")
    if isinstance(cases, Iterator):
        kept = _KeptCases(_checked(cases, scale))
        return lambda fetch: _with_records(kept, ArtifactSources(Path(), hosts, roots=roots), fetch)
    return lambda fetch: _with_records(_checked(cases, scale), ArtifactSources(Path(), hosts, roots=roots), fetch)


def _are_cases(cases: Any) -> bool:
    """A single case is iterable too, but not an iterable of cases."""
    return isinstance(cases, Iterable) and not isinstance(cases, Case | Mapping)


def _checked(given: Iterable[CaseInput], scale: VerdictScale | None) -> Iterator[Case]:
    with closing(SeenIds()) as seen:
        for number, one in enumerate(given, start=1):
            try:
                case = case_of(one, f"case-{number}", scale)
            except CaseFileError as error:
                raise CaseFileError(f"case {number}: {error}") from error
            seen.add(case.case_id, FileRow(f"case {number}", number, number, {}, ""))
            yield case


def _with_records(cases: Iterable[Case], sources: ArtifactSources, fetch: Fetch) -> Iterator[Case]:
    for number, case in enumerate(cases, start=1):
        try:
            read = _resolved(case, sources) if fetch(case) else case
        except CaseFileError as error:
            raise CaseFileError(f"case {number}: {error}") from error
        yield read


def _resolved(case: Case, sources: ArtifactSources) -> Case:
    try:
        return sources.resolved(case)
    except ArtifactSourceError as error:
        raise CaseFileError(str(error)) from error


class _KeptCases:
    """Iterates the cases from the first at each call; the iterator is advanced only when a reader needs its next case.

    Several readers may read at once, in several threads. The file is deleted with the object.
    """

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._lock = threading.Lock()
        self._file = TemporaryFile(prefix="jury-cases-")  # noqa: SIM115  (as long as the object)
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._error: Exception | None = None

    def __iter__(self) -> Iterator[Case]:
        position = 0
        while True:
            with self._lock:
                if position == self._end and not self._advance():
                    return
                self._file.seek(position)
                line = self._file.readline()
            position += len(line)
            yield Case.model_validate_json(line)

    def _advance(self) -> bool:
        """Keep the next case; False at the end."""
        if self._error is not None:
            raise self._error
        try:
            case = next(self._cases, None)
            if case is None:
                return False
            self._keep(case)
        except Exception as error:
            self._error = error
            raise
        return True

    def _keep(self, case: Case) -> None:
        try:
            self._file.seek(self._end)
            self._file.write(line := case.model_dump_json().encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise CaseFileError(
                f"the cases cannot be kept in a temporary file: {error.strerror or error}; make room, or set TMPDIR"
            ) from error
        self._end += len(line)
