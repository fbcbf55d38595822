"""Errors of this component."""

from jury_events.errors import EventError, Failure, JuryError


class ReplayError(JuryError):
    """A record cannot be used; the message names the debate or the file, and the remedy."""


class RecordDamaged(ReplayError, EventError):
    """The stored record of a debate does not verify, so it is neither used nor shown."""

    failure = Failure.ALTERED


class CassetteError(ReplayError):
    """A cassette cannot be read or written; the message begins with its file, and the line where one is at fault."""


class CassetteDamaged(CassetteError):
    """A cassette does not verify: it was cut, changed, or assembled wrongly."""

    failure = Failure.ALTERED


class OutputPathTaken(ReplayError):
    """The output path is taken by something that must not be replaced."""


class SettingRefused(ReplayError):
    """A setting of a rescoring cannot be used; the message names its key and what it may be."""


class NotApplicable(ReplayError):
    """A setting needs something that the panel of a debate lacks; other debates may take it."""


class JudgeMissing(ReplayError):
    """A setting needs a final judge, and the debate had none, so there is no recorded answer."""


class BadAcceptance(ReplayError):
    """The file of accepted changes beside a cassette cannot be read."""


class OtherDebate(ReplayError):
    """The store contains another debate under the id of the cassette; neither is changed."""

    failure = Failure.ALTERED


class ErasureUnasked(ReplayError):
    """A cassette would erase texts of the store, and the import does not allow it."""


class ErasureRefused(ReplayError):
    """There is nothing to erase under that scope, or another process was writing."""


class QuarantineRefused(ReplayError):
    """The name or the reason of a quarantine cannot be recorded."""


class ForkRefused(ReplayError):
    """A debate cannot be branched there, or not under those settings; the message names a possible place."""


class OriginAltered(ForkRefused, EventError):
    """The record that a branch would reuse was altered."""
