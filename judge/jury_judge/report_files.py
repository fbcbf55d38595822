"""Reports as files: where they may be written, and how."""

from pathlib import Path

from jury_judge.errors import ReportFailed, ReportRefused
from jury_replay.errors import CassetteError, OutputPathTaken
from jury_replay.output_path import check_output_path


def check_report_path(path: Path, begins: bytes) -> None:
    """Check, before anything is judged, that a report that begins with these bytes may be written to `path`."""
    if not path.parent.is_dir():
        raise ReportRefused(f"{path}: there is no folder {path.parent}; make it, or name another file")
    try:
        check_output_path(path, begins)
    except (OutputPathTaken, OSError) as error:
        said = str(error) if isinstance(error, OutputPathTaken) else f"{path}: {error.strerror}; name another file"
        raise ReportRefused(said) from None


def write_report(path: Path, content: bytes) -> None:
    """Write a report atomically: readers see the old one or the new one."""
    from jury_replay.cassettes.writing import put

    try:
        put(path, content)
    except CassetteError as error:
        raise ReportFailed(str(error)) from None
