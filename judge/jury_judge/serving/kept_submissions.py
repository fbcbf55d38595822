"""Submissions on disk until they are over, so that a restarted server goes on with them: a file each."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from jury_events.case import Case
from jury_judge.running.status_file import status_folder
from jury_judge.serving.submission_claims import Kind
from jury_store.opening import database_path, parse_store_url


class KeptSubmission(NamedTuple):
    """One evaluation, of one case, or one run; `name` is the debate's id, or the run's."""

    kind: Kind
    name: str
    panel: str
    cases: Sequence[Case]
    run_id: str | None
    submission_id: str | None = None
    concurrency: int | None = None


class KeptSubmissions:
    """The files in one folder that other users cannot enter; several threads may use it.

    Args:
        folder: made when the first submission is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, submission: KeptSubmission) -> None:
        """Write a submission; it is on the disk when this returns.

        Raises:
            OSError: it cannot be written.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        table = submission._asdict() | {"cases": [case.model_dump_json() for case in submission.cases]}
        descriptor, name = tempfile.mkstemp(dir=self.folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(table, file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path(submission.kind, submission.name))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync(self.folder)

    def drop(self, kind: Kind, name: str) -> None:
        """Delete a submission, if it is kept, and the folder if it is empty."""
        with suppress(OSError):
            self._path(kind, name).unlink(missing_ok=True)
            self.folder.rmdir()

    def all(self) -> Iterator[KeptSubmission]:
        """Every submission that is kept, the oldest first.

        Raises:
            ValueError: a file was altered.
        """
        paths = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for path in paths:
            table = json.loads(path.read_text("utf-8"))
            cases = tuple(map(Case.model_validate_json, table.pop("cases")))
            yield KeptSubmission(cases=cases, **table)

    def _path(self, kind: Kind, name: str) -> Path:
        return self.folder / f"{kind}-{sha256(name.encode()).hexdigest()[:32]}.json"


def kept_submissions(store_url: str) -> KeptSubmissions:
    """Those of a store: beside a SQLite file, else in the folder of this user on this machine.

    Raises:
        FolderNotPrivate: the user's folder cannot be used.
    """
    parsed = parse_store_url(store_url)
    if parsed.get_backend_name() == "sqlite":
        database = database_path(parsed)
        return KeptSubmissions(database.with_name(database.name + ".submissions"))
    return KeptSubmissions(status_folder(store_url) / "submissions")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
