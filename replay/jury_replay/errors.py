"""Errors of this component."""

from jury_events.errors import JuryError


class ReplayError(JuryError):
    """What is recorded cannot be done again."""


class CassetteError(ReplayError):
    """A cassette cannot be read or written; the message begins with its file, and the line where one is to blame."""


class CassetteDamaged(CassetteError):
    """A cassette does not verify: it was cut, changed, or put together wrongly."""


class RecordDamaged(ReplayError):
    """What the store holds of a debate does not verify; nothing is made of it."""


class DebateMissing(ReplayError):
    """The store holds no debate of that id."""
