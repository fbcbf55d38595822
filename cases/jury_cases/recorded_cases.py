"""The cases of an iterator, kept in a temporary file: a run reads its cases several times, an iterator only once."""

import threading
import weakref
from collections.abc import Iterator
from tempfile import TemporaryFile

from jury_cases.errors import CaseFileError
from jury_events.case import Case


class RecordedCases:
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
