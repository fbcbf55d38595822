"""Errors of this component."""

from jury_events.errors import JuryError


class ReplayError(JuryError):
    """A record cannot be worked on; the message names the debate and what to do."""


class NothingRecorded(ReplayError):
    """Nothing is stored of the debate; `jury list` shows those that there are."""


class Unreplayable(ReplayError):
    """The streams of the debate do not fit together; `jury verify` says where."""


class SettingRefused(ReplayError):
    """A setting of a rescoring cannot be used; the message names its key and what it may be."""


class NotApplicable(ReplayError):
    """A setting asks for what the panel of a debate does not have; other debates may take it."""


class JudgeMissing(ReplayError):
    """A setting asks for a final judge where a debate had none, so that nothing can stand for its answer."""


class BadCorpus(ReplayError):
    """A folder of cassettes, or a file beside one, is not what it must be."""
