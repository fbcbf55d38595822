"""Errors of this component."""

from jury_events.errors import Failure, InputError


class OutputClosed(InputError):
    """The reader of the results is gone before the work is done; the message has the way to resume."""

    failure = Failure.STOPPED
