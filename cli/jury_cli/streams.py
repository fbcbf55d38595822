"""stdout and stderr of a command: it goes on when a pipe's reader goes away, and when an encoding lacks a character."""

import io
import sys
from typing import TYPE_CHECKING

from jury_cli.exits import OutputClosed

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _Stream(io.FileIO):
    """Writes to a file descriptor that it does not own; data is dropped once the pipe's reader is gone."""

    reader_gone = False

    def write(self, data: "Buffer") -> int:
        """All data counts as written, read or not."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self.reader_gone = True
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let a command go on writing to stdout and stderr after a pipe's reader went away (`jury regress … | head`).

    A command that the closed pipe ended would exit without having looked at the rest, as would one that stopped at a
    character that the stream's encoding lacks: it becomes `?`. Streams that are no files (in tests) stay as they are.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):
            continue
        raw = getattr(stream.buffer, "raw", stream.buffer)  # unbuffered (`python -u`), there is nothing between
        if type(raw) is io.FileIO:
            stream.flush()
            setattr(sys, name, _outliving(stream, raw.fileno()))


def check_stdout(resume_hint: str) -> None:
    """Stop a command if the reader of its results is gone, as far as writing to stdout has shown."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stream) and raw.reader_gone:
        raise OutputClosed(f"the reader of the results closed them; {resume_hint}")


def _outliving(stream: io.TextIOWrapper, descriptor: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(descriptor, "wb", closefd=False)),
        encoding=stream.encoding,
        errors="replace" if stream.errors in {"strict", "surrogateescape"} else stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
