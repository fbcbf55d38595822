"""Errors of this component."""

from typing import Self

from jury_events.errors import EventError, JuryError


class ReplayError(JuryError):
    """A record cannot be worked on; the message names the debate or the file, and what to do."""


class DebateNotFound(ReplayError):
    """The store holds no debate of that id."""

    @classmethod
    def named(cls, debate_id: str) -> Self:
        """The error about this id."""
        return cls(f"there is no debate {debate_id!r} in this store; `jury list` shows those that there are")


class RecordDamaged(ReplayError):
    """What the store holds of a debate does not verify; nothing is made of it."""


class CassetteError(ReplayError):
    """A cassette cannot be read or written; the message begins with its file, and the line where one is to blame."""


class CassetteDamaged(CassetteError):
    """A cassette does not verify: it was cut, changed, or put together wrongly."""


class OutputPathTaken(ReplayError):
    """Where a file is to be written stands something that it must not replace."""


class SettingRefused(ReplayError):
    """A setting of a rescoring cannot be used; the message names its key and what it may be."""


class NotApplicable(ReplayError):
    """A setting asks for what the panel of a debate does not have; other debates may take it."""


class JudgeMissing(ReplayError):
    """A setting asks for a final judge where a debate had none, so that nothing can stand for its answer."""


class BadAcceptance(ReplayError):
    """The file beside a cassette that holds its accepted changes does not read as such."""


class OtherDebate(ReplayError):
    """The store holds another debate under the id of the cassette; neither is changed."""


class ErasureUnasked(ReplayError):
    """A cassette would make texts go that the store holds, and nobody said that it may."""


class ErasureRefused(ReplayError):
    """What is to be erased is not there, or somebody else was writing."""


class QuarantineRefused(ReplayError):
    """Who sets a debate aside, or why, cannot be recorded."""


class ForkRefused(ReplayError):
    """A debate cannot be branched there, or not under those settings; the message says where it can be."""


class OriginAltered(ForkRefused, EventError):
    """The record that a branch would reuse is not as it was written."""
