"""Errors of this component."""

from click import ClickException

from jury_events.errors import Failure, JuryError


class DebateUnfinished(JuryError):
    """A debate ended without a judgment, as one that a person cancelled; the message names it and its state."""

    failure = Failure.STOPPED


class JuryUnusable(JuryError, ClickException):
    """The jury of a tool cannot be set up: its panel, store or policy.

    The commands of Inspect and Scout are made with click, which prints the one line of such an error, and no traceback.
    """
