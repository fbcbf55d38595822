"""stdout and stderr of a command: whoever reads them may stop, and the command still ends with its own result."""

import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _Stream(io.FileIO):
    """Writes to a file descriptor that it does not own; what nobody reads any more is dropped."""

    reader_gone = False

    def write(self, data: "Buffer") -> int:
        """All of it counts as written, read or not."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self.reader_gone = True
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let writing to stdout and stderr go on where a pipe's reader went away (`jury regress … | head`).

    A command prints what it finds as it goes: were it ended by the closed pipe, its exit code would say nothing of what
    it had not looked at yet. Streams that are no file (a test's) stay as they are.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):
            continue
        raw = getattr(stream.buffer, "raw", stream.buffer)  # unbuffered (`python -u`), there is nothing between
        if type(raw) is io.FileIO:
            stream.flush()
            setattr(sys, name, _outliving(stream, raw.fileno()))


def stdout_is_read() -> bool:
    """Whether anybody still reads stdout, as far as writing to it has shown."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return not (isinstance(raw, _Stream) and raw.reader_gone)


def _outliving(stream: io.TextIOWrapper, descriptor: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(descriptor, "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
