"""Log lines as JSON, and the events that they report.

Messages of other packages and of their exceptions can quote requests, answers, SQL or keys, so that only the place and
the type of the exception are written.
"""

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from jury_events.errors import error_text
from jury_events.scrubbing import known_scrubber

FIELDS = "jury_fields"
"""The attribute of a record that has them."""


def log_event(
    log: logging.Logger,
    level: int,
    event: str,
    message: str,
    *,
    run: str | None = None,
    debate: str | None = None,
    step: str | None = None,
    exc_info: BaseException | None = None,
    **more: object,
) -> None:
    """Log `message` under the name `event`; no text of a case, prompt or answer may be among the arguments.

    Args:
        level: as in `logging`.
        message: for people; contains what `more` says too.
        run, debate, step: ids, where they apply.
        exc_info: an exception, of which the type and the place are shown.
        more: further values: numbers, names, ids; those that are None are left out.
    """
    if log.isEnabledFor(level):
        fields: dict[str, Any] = {"event": event, "run": run, "debate": debate, "step": step, **more}
        log.log(level, "%s", message, exc_info=exc_info, extra={FIELDS: fields})


PROCESS = "jury_process"
PID = "jury_pid"
"""Attributes of a record that was made in another process."""

_OWN = "jury_"
_MESSAGE = 4000
"""Characters of a message."""

_FRAMES = 20
"""Of a traceback, the innermost ones."""


class JsonLines(logging.Formatter):
    """One JSON object a record: `time`, `level`, `event`, `message`, ids, values, `process`, `pid`, `logger`."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """The line, in ASCII, without a line break and without a secret of this process."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "event": "log",
            "message": message_of(record),
            **getattr(record, FIELDS, {}),
            **_error(record),
            "process": getattr(record, PROCESS, self._process),
            "pid": getattr(record, PID, os.getpid()),
            "logger": record.name,
        }
        whole = json.dumps({name: value for name, value in line.items() if value is not None}, default=_name)
        return known_scrubber().text(whole)


class LineHandler(logging.Handler):
    """Writes each record as a line on stderr, as it is at that moment; other packages' records from warnings on."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self.setFormatter(JsonLines(process))
        self.addFilter(lambda record: is_own(record) or record.levelno >= logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line; a stream that is closed is not written to."""
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return


def is_own(record: logging.LogRecord) -> bool:
    """Whether a package of this project logged it."""
    return record.name.startswith(_OWN)


def message_of(record: logging.LogRecord) -> str:
    """The message, without texts of other packages."""
    if not is_own(record):
        return f"{record.name} logged this at {record.filename}:{record.lineno}; its text is not shown"
    args = record.args
    if isinstance(args, tuple):
        args = tuple(error_text(one) if isinstance(one, BaseException) else one for one in args)
    text = str(record.msg) % args if args else str(record.msg)
    return text if len(text) <= _MESSAGE else text[: _MESSAGE - 1] + "…"


def _error(record: logging.LogRecord) -> dict[str, Any]:
    if not record.exc_info or record.exc_info[0] is None:
        return {}
    frames = traceback.extract_tb(record.exc_info[2])[-_FRAMES:]
    at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": record.exc_info[0].__name__, "at": at}


def _name(value: object) -> str:
    return type(value).__name__
