"""Errors of this component."""

from jury_events.errors import Failure, JuryError


class DebateUnfinished(JuryError):
    """A debate ended without a judgment, as one that a person cancelled; the message names it and its state."""

    failure = Failure.STOPPED
