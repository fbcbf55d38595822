"""Log records with the name of what happened and the ids that it concerns."""

import logging
from typing import Any

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
        log: the logger.
        level: as in `logging`.
        event: a name of lower-case words joined by underscores.
        message: for people; contains what `more` says too.
        run, debate, step: ids, where they apply.
        exc_info: an exception, of which the type and the place are shown.
        more: further values: numbers, names, ids; those that are None are left out.
    """
    if log.isEnabledFor(level):
        fields: dict[str, Any] = {"event": event, "run": run, "debate": debate, "step": step, **more}
        log.log(level, "%s", message, exc_info=exc_info, extra={FIELDS: fields})
