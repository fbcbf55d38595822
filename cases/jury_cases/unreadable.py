"""Rows that cannot be read: the reading stops at the first, or goes on and keeps a list (`--skip-unreadable`)."""

from collections.abc import Iterator

from jury_cases.errors import CaseFileError
from jury_events.text.pluralize import pluralize

MOST_KEPT = 1000
"""The most errors of which the text is kept."""


class UnreadableRows:
    """Decides on the error of a row, a trace or a file.

    Args:
        skip: leave out what cannot be read; else the error is raised.

    Attributes:
        errors: the errors in the order of their first occurrence, each one line that begins with its place; at most
            `MOST_KEPT`.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self._skip = skip
        self._seen: set[int] = set()
        self.errors: list[str] = []

    @property
    def count(self) -> int:
        """How many different errors there were; files that are read twice have each once."""
        return len(self._seen)

    def leave_out(self, error: CaseFileError) -> None:
        """Note an error."""
        if not self._skip:
            raise error
        line = str(error)
        if hash(line) in self._seen:
            return
        self._seen.add(hash(line))
        if len(self.errors) < MOST_KEPT:
            self.errors.append(line)

    def lacks(self, file: str) -> bool:
        """Whether lines of a file were left out; also if there are more errors than are kept."""
        return self.count > len(self.errors) or any(line.startswith(f"{file}:") for line in self.errors)

    def lines(self) -> Iterator[str]:
        """The list for people; empty if everything was read."""
        if not self.count:
            return
        yield f"left out, since it cannot be read: {pluralize(self.count, 'row')} (or trace, or file)"
        for line in self.errors:
            yield f"  {line}"
        if self.count > len(self.errors):
            yield f"  and {self.count - len(self.errors)} more"
