"""Cases as passed by Python callers: `Case` objects, rows as in a case file, or case files."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jury_cases.artifact_sources import ArtifactSources
from jury_cases.errors import ArtifactSourceError, CaseFileError
from jury_cases.files import CaseFiles
from jury_cases.formats.registry import AskedFormat, asked_format
from jury_cases.labels import Labels
from jury_cases.options import CaseOptions
from jury_cases.outline import Fetch, RecordedCases, SeenIds
from jury_cases.rows import RowReading, read_case
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_events.text import visible_line
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
    reading = RowReading(form=asked_format(form), labels=labels, policy=policy, has_options=False)
    return read_case(row, reading, default_id=default_id)


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
        kept = RecordedCases(_checked(cases, scale))
        return lambda fetch: _with_records(kept, ArtifactSources(Path(), hosts, roots=roots), fetch)
    return lambda fetch: _with_records(_checked(cases, scale), ArtifactSources(Path(), hosts, roots=roots), fetch)


def _are_cases(cases: Any) -> bool:
    """A single case is iterable too, but not an iterable of cases."""
    return isinstance(cases, Iterable) and not isinstance(cases, Case | Mapping)


def _checked(given: Iterable[CaseInput], scale: VerdictScale | None) -> Iterator[Case]:
    """The cases, without records referred to by URI."""
    with SeenIds() as seen:
        for number, one in enumerate(given, start=1):
            try:
                case = case_of(one, f"case-{number}", scale)
                _check_id(case, number, seen)
            except CaseFileError as error:
                raise CaseFileError(f"case {number}: {error}") from error
            yield case


def _check_id(case: Case, number: int, seen: SeenIds) -> None:
    first = seen.number_of(case.case_id, number)
    if first is not None:
        shown = visible_line(case.case_id, 120)
        raise CaseFileError(f"its id {shown!r} is also the id of case {first}; give each case a different id")


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
