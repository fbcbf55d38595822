"""Submissions on disk until they are over, so that a restarted server goes on with them: a file each.

Several servers of one machine may share the folder. A submission that a server works on has a second file, locked by
that server: the kernel releases the lock when the process ends, so that only what a dead server left is taken over.
"""

import json
import os
import tempfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from socket import gethostname
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from jury_events.case import Case
from jury_events.ids import debate_id as id_of
from jury_events.regular_files import read_failure, read_regular
from jury_judge.errors import KeptFileRefused
from jury_judge.running.status_file import status_folder
from jury_judge.serving.submission_claims import Kind
from jury_store.locked_file import LockedFile, read_locked
from jury_store.opening import database_path, parse_store_url

_MOST = 256 * 1024 * 1024
"""Bytes of a file: the body of a request has at most 32 MiB, and its texts are escaped twice."""


class KeptSubmission(NamedTuple):
    """One evaluation, of one case, or one run; `name` is the debate's id, or the run's."""

    kind: Kind
    name: str
    panel: str
    cases: Sequence[Case]
    run_id: str | None
    submission_id: str | None = None
    concurrency: int | None = None

    @property
    def debates(self) -> dict[str, Case]:
        """Its cases by the ids of their debates."""
        if self.kind == "evaluation":
            return {self.name: self.cases[0]}
        return {id_of(self.name, case.case_id): case for case in self.cases}


class KeptFile(NamedTuple):
    """A file of a submission as it lies in the folder; `written` is its time in ns since 1970-01-01 UTC."""

    stem: str
    written: int


class _Content(BaseModel):
    """What a file has."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Literal["evaluation", "run"]
    name: str
    panel: str
    cases: list[str]
    run_id: str | None
    submission_id: str | None
    concurrency: int | None


class KeptSubmissions:
    """The files in one folder that other users cannot enter; several threads and processes may use it.

    Args:
        folder: made when the first submission is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def own(self, kind: Kind, name: str) -> LockedFile | None:
        """Take a submission, kept or not, until the result is released or this process ends.

        None: another server has it.

        Raises:
            OSError: the lock cannot be written.
        """
        return LockedFile.take(self._lock(_stem(kind, name)), f"process {os.getpid()} on {gethostname()}".encode())

    def owner(self, kind: Kind, name: str) -> str | None:
        """The server that has a submission, as `process 12 on HOST`; None: no living one."""
        return self._owner(_stem(kind, name))

    def keep(self, submission: KeptSubmission) -> None:
        """Write a submission, which must be owned; it is on the disk when this returns.

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
            Path(name).replace(self._path(_stem(submission.kind, submission.name)))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync(self.folder)

    def drop(self, kind: Kind, name: str) -> None:
        """Delete a submission, if it is kept, and the folder if it is empty."""
        with suppress(OSError):
            self._path(_stem(kind, name)).unlink(missing_ok=True)
            self.folder.rmdir()

    def find(self, kind: Kind, name: str) -> KeptFile | None:
        """The file of a submission; None: it is not kept."""
        stem = _stem(kind, name)
        try:
            return KeptFile(stem, self._path(stem).lstat().st_mtime_ns)
        except OSError:
            return None

    def has(self, file: KeptFile) -> bool:
        """Whether a file is still there."""
        return os.path.lexists(self._path(file.stem))

    def left(self, passed: Collection[KeptFile] = ()) -> list[KeptFile]:
        """The files that no living server has, the oldest first, without `passed`; nothing is opened but locks.

        Raises:
            OSError: the folder cannot be read.
        """
        found = []
        try:
            names = [entry for entry in os.scandir(self.folder) if entry.name.endswith(".json")]
        except FileNotFoundError:
            return []
        for entry in names:
            with suppress(FileNotFoundError):  # it is over meanwhile
                one = KeptFile(entry.name.removesuffix(".json"), entry.stat(follow_symlinks=False).st_mtime_ns)
                if one not in passed and self._owner(one.stem) is None:
                    found.append(one)
        return sorted(found, key=lambda one: (one.written, one.stem))

    def all(self) -> list[KeptSubmission]:
        """Every submission that is kept, the oldest first.

        Raises:
            OSError: the folder cannot be read.
            KeptFileRefused: a file cannot be read.
        """
        paths = self.folder.glob("*.json")
        files = [KeptFile(path.stem, path.lstat().st_mtime_ns) for path in paths]
        return [self.read(one) for one in sorted(files, key=lambda one: (one.written, one.stem))]

    def read(self, file: KeptFile) -> KeptSubmission:
        """The submission of a file.

        Raises:
            KeptFileRefused: it is damaged, special or too large; the message names it and the remedy.
        """
        path = self._path(file.stem)
        try:
            content = _Content.model_validate_json(read_regular(path, _MOST, follow=False).decode())
            cases = tuple(map(Case.model_validate_json, content.cases))
        except OSError as error:
            why = "a symbolic link" if path.is_symlink() else read_failure(error)
            raise _refused(path, why) from None
        except UnicodeDecodeError:
            raise _refused(path, "not UTF-8") from None
        except ValidationError:
            raise _refused(path, "not a whole submission in JSON") from None
        if _stem(content.kind, content.name) != file.stem:
            raise _refused(path, "named otherwise than its content is")
        if not cases or (content.kind == "evaluation" and len(cases) > 1):
            raise _refused(path, f"{len(cases)} cases")
        return KeptSubmission(**content.model_dump() | {"cases": cases})

    def _owner(self, stem: str) -> str | None:
        content = read_locked(self._lock(stem))
        return None if content is None else content.decode("utf-8", "replace").strip() or "another process"

    def _path(self, stem: str) -> Path:
        return self.folder / f"{stem}.json"

    def _lock(self, stem: str) -> Path:
        return self.folder / f"{stem}.owner"


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


def _stem(kind: Kind, name: str) -> str:
    return f"{kind}-{sha256(name.encode()).hexdigest()[:32]}"


def _refused(path: Path, why: str) -> KeptFileRefused:
    return KeptFileRefused(
        f"{path}: {why}, so this submission is not gone on with; delete the file, and submit its cases again"
    )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
