"""Judged cases kept for a report, beyond some in a temporary file: a long run needs no memory for them."""

import json
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

from jury_views.reports.judged_case import JudgedCase

_IN_MEMORY = 1 << 20
"""Bytes."""


class KeptCases:
    """A list of cases that grows, and can be read from the first one as often as is needed.

    Raises:
        OSError: by `append`, the temporary file cannot be written.
    """

    def __init__(self) -> None:
        self._file: SpooledTemporaryFile[str] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[JudgedCase]:
        if self._file is not None:
            self._file.seek(0)
            for line in self._file:
                yield JudgedCase(*json.loads(line))

    def append(self, case: JudgedCase) -> None:
        """Add a case; not while the list is read."""
        if self._file is None:
            self._file = SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="ascii")  # noqa: SIM115  (`close`)
        self._file.seek(0, 2)
        self._file.write(json.dumps(case) + "\n")
        self._count += 1

    def close(self) -> None:
        """Delete the file."""
        if self._file is not None:
            self._file.close()
