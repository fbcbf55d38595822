"""Errors of this component."""

from jury_events.errors import JuryError


class DebateError(JuryError):
    """The rules of a debate were broken, or cannot be applied."""


class IllegalEvent(DebateError):
    """An event cannot happen in the state that the debate is in; the state is unchanged.

    Seen on a live debate it is a defect; seen on a stored one, the stream was tampered with or written under
    other rules.
    """


class UnknownRules(DebateError):
    """The log names a rules version that this version of Jury Judge does not have: upgrade it."""


class UnknownPrompts(DebateError):
    """There are no prompts of that version or language in this version of Jury Judge.

    A version that is too new: upgrade Jury Judge. A language: use ja or en.
    """


class PanelError(DebateError):
    """A panel or preset cannot be resolved; the message names the field and what it may be."""
