"""Errors of this component."""

from jury_events.errors import JuryError


class ReplayError(JuryError):
    """A record cannot be worked on; the message names the debate and what to do."""


class NothingRecorded(ReplayError):
    """Nothing is stored of the debate; `jury list` shows those that there are."""


class Unreplayable(ReplayError):
    """The streams of the debate do not fit together; `jury verify` says where."""


class BadCorpus(ReplayError):
    """A folder of cassettes, or a file beside one, is not what it must be."""
