"""How lines on stderr are written: as text, or each as one JSON object."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jury_events.errors import SettingError
from jury_events.known_secrets import known_scrubber
from jury_events.text import visible_line
from jury_judge.observation.log_lines import (
    DEFAULT_LEVEL,
    LEVELS,
    begin_lines,
    end_lines,
    has_lines,
    log_line,
    set_level,
)

FORMAT = "JURY_LOG_FORMAT"
LEVEL = "JURY_LOG_LEVEL"
FORMATS = ("text", "json")

_MAX_LINE = 4000

_log = logging.getLogger("jury_cli")


@contextmanager
def lines_as_configured() -> Iterator[None]:
    """Lines of a command, in the format and from the level that the environment sets; text without a setting."""
    try:
        set_level(_variable(LEVEL, LEVELS, DEFAULT_LEVEL))
        set_format(_variable(FORMAT, FORMATS, "text"))
        yield
    finally:
        set_format("text")
        set_level(DEFAULT_LEVEL)


def set_format(name: str) -> None:
    """Write lines in this format from now on."""
    if name == "json":
        begin_lines()
    else:
        end_lines()


def is_json() -> bool:
    """Whether lines are JSON."""
    return has_lines()


def write_line(
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
    """Write one line to stderr.

    Args:
        text: the line as text.
        event, level, run, debate, exc_info, more: of the line as JSON, see `log_event`.
        brief: its message as JSON, where `text` quotes what other packages say; None: `text`.
    """
    if not is_json():
        print(visible_line(known_scrubber().text(text), _MAX_LINE), file=sys.stderr, flush=True)
        return
    write_event(event, (brief or text).removeprefix("jury: "), level, run=run, debate=debate, exc_info=exc_info, **more)


def write_event(
    event: str,
    message: str,
    level: int = logging.INFO,
    *,
    run: str | None = None,
    debate: str | None = None,
    exc_info: BaseException | None = None,
    **more: Any,
) -> None:
    """Write one line to stderr if lines are JSON; nothing is written as text."""
    log_line(_log, level, event, message, run=run, debate=debate, exc_info=exc_info, **more)


def _variable(name: str, known: tuple[str, ...], default: str) -> str:
    value = os.environ.get(name, "").strip() or default
    if value not in known:
        raise SettingError(f"{name}: {visible_line(value, 40)!r} is none of {', '.join(known)}")
    return value
