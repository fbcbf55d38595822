"""The contents of a report, and its file."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from jury_replay.cassettes.library import put
from jury_replay.errors import CassetteError, OutputPathTaken
from jury_replay.output_path import check_output_path
from jury_views.errors import ReportFailed, ReportRefused
from jury_views.reports.fail_conditions import ConditionResult
from jury_views.reports.judged_case import JudgedCase
from jury_views.reports.tally import Tally


class JudgedCases(Protocol):
    """Cases that can be read several times: a tuple, or `KeptCases`."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[JudgedCase]: ...


class RunReport(NamedTuple):
    """A list of judged cases with what they come to.

    Args:
        name: what was judged, as `run nightly`.
        cases: every case that was judged, and those whose debates could not go on.
        tally: of those whose debates are over.
        total: how many cases there are; None where they were not all read.
        seconds: how long judging took this time.
        spent: calls, tokens and cost in words.
        conditions: the conditions that were asked for.
        failing: the verdicts that count as failures of a case.
    """

    name: str
    cases: JudgedCases
    tally: Tally
    total: int | None
    seconds: float
    spent: str
    conditions: Sequence[ConditionResult] = ()
    failing: Collection[str] = ("unsafe_fail",)


def check_report_path(path: Path, begins: bytes) -> None:
    """Check, before anything is judged, that a report that begins with these bytes may be written to `path`.

    Raises:
        ReportRefused: the folder is missing, or something else stands there, which is not replaced.
    """
    if not path.parent.is_dir():
        raise ReportRefused(f"{path}: there is no folder {path.parent}; make it, or name another file")
    try:
        check_output_path(path, begins)
    except (OutputPathTaken, OSError) as error:
        said = str(error) if isinstance(error, OutputPathTaken) else f"{path}: {error.strerror}; name another file"
        raise ReportRefused(said) from None


def write_report(path: Path, content: bytes) -> None:
    """Write a report atomically: readers see the old one or the new one.

    Raises:
        ReportFailed: it cannot be written; nothing of it is left.
    """
    try:
        put(path, content)
    except CassetteError as error:
        raise ReportFailed(str(error)) from None
