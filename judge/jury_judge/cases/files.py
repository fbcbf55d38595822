"""Case files: JSONL, or a JSON object or list, read one case at a time."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from jury_events.case import Case
from jury_judge.cases.artifact_sources import ArtifactSources
from jury_judge.cases.columns import Columns, check_targets
from jury_judge.cases.containers.json_rows import JsonRow, read_rows
from jury_judge.cases.rows import read_case
from jury_judge.errors import ArtifactSourceError, CaseFileError
from jury_judge.views.visible_text import visible_line

STDIN = "-"


class _Sources(NamedTuple):
    allowed_hosts: frozenset[str]
    stdin: BinaryIO | None
    fetch: Callable[[Case], bool]


def read_cases(
    paths: Iterable[str | Path],
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    *,
    allowed_hosts: frozenset[str] = frozenset(),
    stdin: BinaryIO | None = None,
    fetch: Callable[[Case], bool] = lambda _case: True,
) -> Iterator[Case]:
    """The cases of the files in order, streamed.

    Args:
        paths: files; `-` is standard input.
        fields: parts of a case to the columns that hold them, dotted where nested (see `case_columns`).
        limit: how many cases at most; None is all.
        allowed_hosts: where `http(s):` records may come from.
        stdin: what `-` reads; None is the process's.
        fetch: whether the records that a case's URIs lead to are read; it is asked with the case without them.

    Raises:
        CaseFileError: a target in `fields` is unknown (at once), or a file, line or field cannot be read (on the way).
    """
    named = dict(fields or {})
    check_targets(named)
    if limit is not None and limit < 0:
        raise CaseFileError(f"the limit {limit} is negative; it counts cases from 0 up")
    named_paths = tuple(paths)
    if [str(path) for path in named_paths].count(STDIN) > 1:
        raise CaseFileError("stdin: - is named twice, and can be read once; name it once")
    return _cases(named_paths, named, limit, _Sources(allowed_hosts, stdin, fetch))


def _cases(
    paths: tuple[str | Path, ...],
    fields: dict[str, str],
    limit: int | None,
    given: _Sources,
) -> Iterator[Case]:
    seen: dict[str, tuple[str, int]] = {}
    for path in paths:
        if limit is not None and len(seen) >= limit:
            return
        name = "stdin" if str(path) == STDIN else visible_line(str(path), 1000)
        base = Path() if str(path) == STDIN else Path(path).parent
        stem = "stdin" if str(path) == STDIN else Path(path).stem
        sources = ArtifactSources(base, given.allowed_hosts)
        for row in _rows(path, name, given.stdin):
            case = _case(row, fields, f"{stem}-{row.number}", sources, given.fetch)
            if case.case_id in seen:
                raise CaseFileError(_duplicate(case.case_id, seen[case.case_id], name, row.line))
            seen[case.case_id] = (name, row.line)
            yield case
            if len(seen) == limit:
                return


def _case(
    row: JsonRow, fields: dict[str, str], default_id: str, sources: ArtifactSources, fetch: Callable[[Case], bool]
) -> Case:
    try:
        case = read_case(Columns(row.data, fields), default_id=default_id)
        return sources.resolved(case) if fetch(case) else case
    except (CaseFileError, ArtifactSourceError) as error:
        raise CaseFileError(f"{row.place}: {error}") from error


def _duplicate(case_id: str, first: tuple[str, int], name: str, line: int) -> str:
    shown = visible_line(case_id, 120)
    if first == (name, line):
        return f"{name}:{line}: the file is named twice; name it once"
    remedy = "give each case an id of its own"
    if first[0] == name:
        return f"{name}:{line}: case id {shown!r} is on lines {first[1]} and {line}; {remedy}"
    return f"{name}:{line}: case id {shown!r} is also at {first[0]}:{first[1]}; {remedy}"


def _rows(path: str | Path, name: str, stdin: BinaryIO | None) -> Iterator[JsonRow]:
    try:
        if str(path) == STDIN:
            yield from read_rows(sys.stdin.buffer if stdin is None else stdin, name)
        else:
            with _open(path, name) as stream:
                yield from read_rows(stream, name)
    except FileNotFoundError as error:
        raise CaseFileError(f"{name}: there is no such file") from error
    except IsADirectoryError as error:
        raise CaseFileError(f"{name}: this is a directory; name the files in it") from error
    except PermissionError as error:
        raise CaseFileError(f"{name}: you may not read this file") from error
    except OSError as error:
        raise CaseFileError(f"{name}: cannot be read: {error.strerror or error}") from error


def _open(path: str | Path, name: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except ValueError as error:
        raise CaseFileError(f"{name}: not a path") from error
