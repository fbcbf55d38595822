"""Errors of this component."""

from jury_events.errors import Failure, JuryError


class DebateError(JuryError):
    """The rules of a debate are broken, or cannot be applied."""


class IllegalEvent(DebateError):
    """An event is impossible in the current state of the debate; the state is unchanged.

    In a running debate it is a defect; in a stored one, the stream was tampered with or written under other rules.
    """

    failure = Failure.ALTERED


class UnknownRules(DebateError):
    """The log names a rules version that this version of Jury Judge does not know: upgrade it."""


class UnknownPrompts(DebateError):
    """This version of Jury Judge has no prompts of that version or language.

    Upgrade Jury Judge for a newer version; the languages are ja and en.
    """


class PanelError(DebateError):
    """A panel or preset cannot be resolved; the message names the field and what it may be."""
