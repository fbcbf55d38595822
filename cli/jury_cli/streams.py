"""stdout and stderr of a command: it goes on when a pipe's reader goes away, and when an encoding lacks a character."""

import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jury_cli.exits import OutputClosed
from jury_events.errors import SettingError
from jury_events.scrubbing import known_scrubber
from jury_events.text import visible_line
from jury_judge.log_lines import (
    DEFAULT_LEVEL,
    LEVELS,
    begin_lines,
    end_lines,
    has_lines,
    log_line,
    set_level,
)

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
            outliving = io.TextIOWrapper(
                io.BufferedWriter(_Stream(raw.fileno(), "wb", closefd=False)),
                encoding=stream.encoding,
                errors="replace" if stream.errors in {"strict", "surrogateescape"} else stream.errors,
                line_buffering=stream.line_buffering or stream.write_through,
            )
            setattr(sys, name, outliving)


def check_stdout(resume_hint: str) -> None:
    """Stop a command if the reader of its results is gone, as far as writing to stdout has shown."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stream) and raw.reader_gone:
        raise OutputClosed(f"the reader of the results closed them; {resume_hint}")


FORMAT = "JURY_LOG_FORMAT"
LEVEL = "JURY_LOG_LEVEL"
FORMATS = ("text", "json")

_MAX_LINE = 4000

LOG = logging.getLogger("jury_cli")


@contextmanager
def lines_as_configured() -> Iterator[None]:
    """Lines of a command, in the format and from the level that the environment sets; text without a setting."""
    try:
        set_level(_variable(LEVEL, LEVELS, DEFAULT_LEVEL))
        if _variable(FORMAT, FORMATS, "text") == "json":
            begin_lines()
        yield
    finally:
        end_lines()
        set_level(DEFAULT_LEVEL)


def set_format(name: str) -> None:
    """Write lines in this format from now on."""
    if name == "json":
        begin_lines()
    else:
        end_lines()


def note(
    text: str,
    event: str = "notice",
    level: int = logging.INFO,
    *,
    brief: str | None = None,
    run: str | None = None,
    debate: str | None = None,
    exc_info: BaseException | None = None,
    **more: Any,
) -> None:
    """Print one safe line to stderr.

    Args:
        text: the line as text.
        event, level, run, debate, exc_info, more: of the line as JSON, see `log_event`.
        brief: its message as JSON, where `text` quotes what other packages say; None: `text`.
    """
    if not has_lines():
        print(visible_line(known_scrubber().text(text), _MAX_LINE), file=sys.stderr, flush=True)
        return
    said = (brief or text).removeprefix("jury: ")
    log_line(LOG, level, event, said, run=run, debate=debate, exc_info=exc_info, **more)


def _variable(name: str, known: tuple[str, ...], default: str) -> str:
    value = os.environ.get(name, "").strip() or default
    if value not in known:
        raise SettingError(f"{name}: {visible_line(value, 40)!r} is none of {', '.join(known)}")
    return value
