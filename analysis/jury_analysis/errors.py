"""Errors of this component."""

from jury_events.errors import JuryError, Worded


class AnalysisError(JuryError):
    """Ballots or labels cannot be analysed as they are; the message names the place and the remedy."""


class BadBallots(AnalysisError):
    """A table is no table of ballots: a column is missing, a value is out of range, or a vote occurs twice."""


class BadLabels(AnalysisError):
    """A table is no table of labels, or one annotator labels a case twice."""


class UnknownVerdict(AnalysisError):
    """A verdict or label is not one of the declared categories."""


class OnlySimulated(AnalysisError, Worded):
    """All debates are simulated, and simulated debates were not asked for."""


class MixedPanels(AnalysisError):
    """Debates of different panels were to be analysed as one sample."""


class TooFewLabels(AnalysisError):
    """There are fewer labels than the promise needs, or than a model can be fitted on; the message has the number."""


class NoStepsNamed(AnalysisError):
    """Agreement on the decisive step was asked for, and no vote names one, or no verdict is known to pass."""


class NoConfidences(AnalysisError):
    """The mean probability of the verdict was asked for, and no vote has one."""


class BadSplit(AnalysisError):
    """The parts of a calibration overlap, or one of them is empty."""


class UnknownMetric(AnalysisError):
    """A gate was to be decided by a figure that its ballots do not have."""
