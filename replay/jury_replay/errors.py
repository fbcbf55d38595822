"""Errors of this component."""

from jury_events.errors import JuryError


class ReplayError(JuryError):
    """What is recorded cannot be done again as it was asked for."""


class SettingRefused(ReplayError):
    """A setting of a rescoring cannot be used; the message names its key and what it may be."""


class NotApplicable(ReplayError):
    """A setting asks for what the panel of a debate does not have; other debates may take it."""


class JudgeMissing(ReplayError):
    """A setting asks for a final judge where a debate had none, so that nothing can stand for its answer."""
