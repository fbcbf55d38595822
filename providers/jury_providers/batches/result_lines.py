"""Lines of a file of results, read with a bound for each."""

from collections.abc import Iterator
from typing import IO, NamedTuple

MOST_LINE_BYTES = 16 * 1024 * 1024
"""As of one response to a live call."""


class ResultLine(NamedTuple):
    """A line without its end; None: it was longer than `MOST_LINE_BYTES`."""

    data: bytes | None


def result_lines(file: IO[bytes], most: int = MOST_LINE_BYTES) -> Iterator[ResultLine]:
    """The lines of a file that are not empty, in its order; a long one is skipped without having it in memory."""
    while line := file.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(most)
            yield ResultLine(None)
        elif line.strip():
            yield ResultLine(line.strip())
