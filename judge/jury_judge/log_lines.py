"""The log on stderr as lines of JSON: of this process, and of the actors that it starts.

Every command asks whether there are such lines, so that what writes them is imported when it is needed.
"""

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jury_actors.observation.json_lines import LineHandler

LEVELS = ("debug", "info", "warning", "error")
DEFAULT_LEVEL = "info"

_PACKAGES = (
    "jury_actors",
    "jury_cases",
    "jury_cli",
    "jury_integrations",
    "jury_judge",
    "jury_providers",
    "jury_replay",
    "jury_store",
    "jury_views",
    "jury_web",
)


class _LinesInForce:
    """What is in force in this process; no handler: no lines are written."""

    handler: "LineHandler | None" = None
    level = DEFAULT_LEVEL


_lines = _LinesInForce()


def begin_lines() -> None:
    """Write every record of the log as a JSON line on stderr from now on; twice is allowed."""
    if _lines.handler is None:
        from jury_actors.observation.json_lines import LineHandler  # noqa: PLC0415  (as said above)

        _lines.handler = LineHandler("driver")
        logging.getLogger().addHandler(_lines.handler)
        logging.captureWarnings(capture=True)
        set_level(_lines.level)


def end_lines() -> None:
    """Write no more of them; twice is allowed."""
    if _lines.handler is not None:
        logging.getLogger().removeHandler(_lines.handler)
        logging.captureWarnings(capture=False)
        _lines.handler = None
        set_level(_lines.level)


def set_level(name: str) -> None:
    """The lowest level of these lines, one of `LEVELS`; other packages' records are written from warnings on."""
    _lines.level = name
    level = logging.NOTSET if _lines.handler is None else logging.getLevelNamesMapping()[name.upper()]
    for package in _PACKAGES:
        logging.getLogger(package).setLevel(level)


def has_lines() -> bool:
    """Whether such lines are written."""
    return _lines.handler is not None


def log_line(log: logging.Logger, level: int, event: str, message: str, **fields: Any) -> None:
    """Log `message` under the name `event`, if such lines are written.

    Args:
        event: a name of lower-case words joined by underscores.
        message: for people, without a text of a case, prompt or answer.
        fields: `run`, `debate` and `step` are ids; `exc_info` is an exception, of which the type and the place are
            shown; further ones are numbers, names or ids.
    """
    if has_lines():
        from jury_actors.observation.json_lines import log_event  # noqa: PLC0415  (as said above)

        log_event(log, level, event, message, **fields)
