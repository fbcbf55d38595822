"""Rows of a file that together make cases: spans of traces, runs, observations, events of sessions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_cases.formats.kept_parts import KeptGroup, KeptParts
from jury_cases.transcripts.json_values import as_text
from jury_events.text.sizes import shown_size
from jury_events.text.visible_text import visible_line

MAX_GATHERED = 256 * 1024 * 1024
"""Characters of the gathered rows of one file, which are in memory at once."""

MAX_CASE = 64 * 1024 * 1024
"""Bytes of the rows of one case, such as the spans of a trace, which are in memory at once."""

MAX_PARTS = 100_000
"""Rows of one case."""

_NAMED = 80
"""Characters of a key in errors."""


class GatheredCase(NamedTuple):
    """The rows of one case.

    Attributes:
        suffix: appended to the case's default id, which is the file's name and the first row's number.
        data: what `Format.read` takes; a CaseFileError: why it cannot be read.
        row: the first of its rows; errors of the case begin with its place.
        name: what errors call it, such as `trace 4bf92f35`; "" if it has no name.
    """

    suffix: str
    data: Any
    row: FileRow
    name: str = ""


class Gathering(ABC):
    """Gathers consecutive rows of one file. A format makes a new one for each file (`Format.gather`)."""

    def takes(self, data: Any) -> bool:  # noqa: ARG002  (most formats recognise every row)
        """Whether a later row of the file belongs to it, although the format does not recognise the row by itself."""
        return False

    @abstractmethod
    def add(self, row: FileRow) -> None:
        """Add a row."""

    @abstractmethod
    def cases(self) -> Iterator[GatheredCase]:
        """The cases, after the last row."""


class GatheredSize:
    """The size of the rows that are in memory."""

    def __init__(self, remedy: str) -> None:
        self._remedy = remedy
        self._size = 0

    def add(self, row: FileRow) -> None:
        first = not self._size
        try:
            self._size += row.size or len(as_text(row.data)) or 1
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error
        if self._size > MAX_GATHERED and not first:
            raise CaseFileError(f"more than {MAX_GATHERED >> 20} MiB of rows that are read together; {self._remedy}")


class RowsByKey(Gathering):
    """Gathers rows by a key, such as spans by their trace; cases are in the order of their first rows.

    Args:
        key: the key of a row; "" if it has none: such rows are one case.
        kind: what a key names in errors (`trace`, `session`).
    """

    def __init__(self, key: Callable[[Any], str], kind: str, data: Callable[[str, list[Any]], Any]) -> None:
        self._key = key
        self._kind = kind
        self._data = data
        self._parts = KeptParts()

    def add(self, row: FileRow) -> None:
        self.add_part(self._key(row.data), row.data, row)

    def add_part(self, key: str, part: Any, row: FileRow) -> None:
        """Add a part of a row under a key of its own."""
        try:
            self._parts.add(key, part, row)
        except RecursionError as error:
            raise CaseFileError("nested too deeply") from error

    def cases(self) -> Iterator[GatheredCase]:
        """One case a key; one that is too large has the error as its data (`GatheredCase`)."""
        for number, group in enumerate(self._parts.groups(), start=1):
            named = f"{self._kind} {visible_line(group.key, _NAMED)}" if group.key else ""
            yield GatheredCase(
                suffix=f"-{group.key or number}",
                data=_too_large(group, named or f"the {self._kind}") or self._data(group.key, list(group.parts)),
                row=group.row,
                name=named,
            )


def _too_large(group: KeptGroup, named: str) -> CaseFileError | None:
    """Why the rows of one case cannot be read together; None: they can."""
    if group.size <= MAX_CASE and group.many <= MAX_PARTS:
        return None
    size = f"{group.many:,} rows of {shown_size(group.size)}"
    most = f"{MAX_PARTS:,} of {shown_size(MAX_CASE)}"
    return CaseFileError(f"{named} has {size}, and at most {most} are read together; leave it out, or shorten it")


def gathered_data(gathering: Gathering, rows: Iterable[Any]) -> list[Any]:
    """The data of the cases of decoded rows that come from no file; raises CaseFileError."""
    for number, data in enumerate(rows, start=1):
        gathering.add(FileRow(f"row {number}", number, number, data, "rows"))
    found = [one.data for one in gathering.cases()]
    for one in found:
        if isinstance(one, CaseFileError):
            raise one
    return found
