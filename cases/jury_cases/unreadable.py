"""Rows that cannot be read: the reading stops at the first, or goes on and keeps a list (`--skip-unreadable`)."""

from jury_cases.errors import CaseFileError

MOST_KEPT = 1000
"""The most errors of which the text is kept."""


class UnreadableRows:
    """Decides on the error of a row, a trace or a file.

    Args:
        skip: leave out what cannot be read; else the error is raised.

    Attributes:
        errors: the errors so far, each one line that begins with its place; at most `MOST_KEPT`.
        count: all errors so far.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self._skip = skip
        self._seen: dict[str, None] = {}
        self.count = 0

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(self._seen)

    def leave_out(self, error: CaseFileError) -> None:
        """Note an error; a file that is read twice in one reading has it once.

        Raises:
            CaseFileError: the error, unless unreadable rows are skipped.
        """
        if not self._skip:
            raise error
        line = str(error)
        if line in self._seen:
            return
        self.count += 1
        if len(self._seen) < MOST_KEPT:
            self._seen[line] = None
