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


class OtherDebate(ReplayError):
    """The store holds another debate under the id of the cassette; neither is changed."""


class ErasureUnasked(ReplayError):
    """A cassette would make texts go that the store holds, and nobody said that it may."""


class ErasureRefused(ReplayError):
    """What is to be erased is not there, or somebody else was writing."""
