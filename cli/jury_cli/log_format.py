"""How lines on stderr are written: as text, or each as one JSON object."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jury_events.errors import SettingError
from jury_events.text.visible_text import visible_line

if TYPE_CHECKING:
    from jury_actors.observation.json_lines import LineHandler

FORMAT = "JURY_LOG_FORMAT"
LEVEL = "JURY_LOG_LEVEL"
FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
DEFAULT_LEVEL = "info"

_PACKAGES = (
    "jury_actors",
    "jury_cases",
    "jury_cli",
    "jury_judge",
    "jury_providers",
    "jury_replay",
    "jury_store",
    "jury_views",
    "jury_web",
)
_MAX_LINE = 4000

_log = logging.getLogger("jury_cli")


class _FormatInForce:
    """The format in force in this process."""

    def __init__(self) -> None:
        self.handler: LineHandler | None = None
        self.level = DEFAULT_LEVEL


_lines = _FormatInForce()


@contextmanager
def lines_as_configured() -> Iterator[None]:
    """Lines of a command, in the format and from the level that the environment sets; text without a setting.

    Raises:
        SettingError: a variable has an unknown value.
    """
    try:
        set_level(_variable(LEVEL, LEVELS, DEFAULT_LEVEL))
        set_format(_variable(FORMAT, FORMATS, "text"))
        yield
    finally:
        set_format("text")
        set_level(DEFAULT_LEVEL)


def set_format(name: str) -> None:
    """Write lines in this format from now on."""
    if name == "json" and _lines.handler is None:
        from jury_actors.observation.json_lines import LineHandler

        _lines.handler = LineHandler("driver")
        logging.getLogger().addHandler(_lines.handler)
        logging.captureWarnings(capture=True)
    elif name == "text" and _lines.handler is not None:
        logging.getLogger().removeHandler(_lines.handler)
        logging.captureWarnings(capture=False)
        _lines.handler = None
    set_level(_lines.level)


def set_level(name: str) -> None:
    """The lowest level of lines that are JSON; other packages' lines are written from warnings on."""
    _lines.level = name
    level = logging.NOTSET if _lines.handler is None else logging.getLevelNamesMapping()[name.upper()]
    for package in _PACKAGES:
        logging.getLogger(package).setLevel(level)


def is_json() -> bool:
    """Whether lines are JSON."""
    return _lines.handler is not None


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
        print(visible_line(text, _MAX_LINE), file=sys.stderr, flush=True)
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
    if is_json():
        from jury_actors.observation.log_event import log_event

        log_event(_log, level, event, message, run=run, debate=debate, exc_info=exc_info, **more)


def _variable(name: str, known: tuple[str, ...], default: str) -> str:
    value = os.environ.get(name, "").strip() or default
    if value not in known:
        raise SettingError(f"{name}: {visible_line(value, 40)!r} is none of {', '.join(known)}")
    return value
