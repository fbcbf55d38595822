"""Case files: JSON, CSV, Parquet, Arrow and Inspect logs, and folders of them, read one case at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from jury_events.case import Case
from jury_judge.cases.artifact_sources import ArtifactSources
from jury_judge.cases.columns import Columns, check_targets
from jury_judge.cases.containers.row import Row, Selection
from jury_judge.cases.containers.rows import STDIN, read_rows
from jury_judge.cases.rows import read_case
from jury_judge.cases.seen_ids import SeenIds
from jury_judge.errors import ArtifactSourceError, CaseFileError

__all__ = ["STDIN", "read_cases"]


class _Sources(NamedTuple):
    allowed_hosts: frozenset[str]
    selection: Selection
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
    rows: str | None = None,
    split: str | None = None,
) -> Iterator[Case]:
    """The cases of the files in order, streamed.

    Args:
        paths: files, folders and globs; `-` is standard input.
        fields: parts of a case to the columns that hold them, dotted where nested (see `case_columns`).
        limit: how many cases at most; None is all.
        allowed_hosts: where `http(s):` records may come from.
        stdin: what `-` reads; None is the process's.
        fetch: whether the records that a case's URIs lead to are read; it is asked with the case without them.
        rows: the dotted path from each object of a file to the list that holds its rows; None where they are the rows.
        split: the split to read of a folder that has several.

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
    return _cases(named_paths, named, limit, _Sources(allowed_hosts, Selection(rows, split), stdin, fetch))


def _cases(
    paths: tuple[str | Path, ...],
    fields: dict[str, str],
    limit: int | None,
    given: _Sources,
) -> Iterator[Case]:
    if limit == 0:
        return
    sources = ArtifactSources(Path(), given.allowed_hosts)
    folder = Path()
    with SeenIds() as seen:
        for count, row in enumerate(read_rows(paths, given.selection, stdin=given.stdin), start=1):
            if row.folder != folder:
                folder, sources = row.folder, ArtifactSources(row.folder, given.allowed_hosts)
            case = _case(row, fields, f"{row.file}-{row.number}", sources, given.fetch)
            seen.add(case.case_id, row)
            yield case
            if count == limit:
                return


def _case(
    row: Row, fields: dict[str, str], default_id: str, sources: ArtifactSources, fetch: Callable[[Case], bool]
) -> Case:
    data = {"messages": row.data} if isinstance(row.data, list) else row.data
    try:
        case = read_case(Columns(data, fields), default_id=default_id)
        return sources.resolved(case) if fetch(case) else case
    except (CaseFileError, ArtifactSourceError) as error:
        raise CaseFileError(f"{row.place}: {error}") from error
