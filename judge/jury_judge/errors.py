"""Errors of this component."""

from collections.abc import Mapping

from jury_events.errors import InputError


class JudgeError(InputError):
    """What the front door was given cannot be used."""


class PanelFileError(JudgeError):
    """A panel, a panel file or a variable that changes it cannot be used; the message names the file or variable."""


class RunRefused(JudgeError):
    """A run cannot go on as it is asked to: its panel or a case is not what it was begun with."""


class JuryClosed(JudgeError):
    """A jury was used outside of its `async with`, or left while it judged; what ran can be resumed."""


class RunUnfinished(JudgeError):
    """Some debates of a run could not go on; `problems` has why, by debate id. The same run again goes on with them."""

    def __init__(self, message: str, problems: Mapping[str, BaseException]) -> None:
        super().__init__(message)
        self.problems = problems


class NoEvaluation(JudgeError):
    """A juror that was used by itself gave no usable answer; the message says where its calls are recorded."""


class BranchTaken(JudgeError):
    """The id that a branch is to have belongs to another debate, or to a branch with other settings."""


class ReviewRefused(JudgeError):
    """A review cannot be recorded as it is; the message names the debate and what to do."""


class ReasonRefused(ReviewRefused):
    """The reason of a review cannot be recorded; the verdict can, with another reason."""


class NotComparable(JudgeError):
    """Two ids do not name two debates, nor two runs."""


class AttestationFailed(JudgeError):
    """A witness or a time-stamping authority cannot be asked, or states nothing of the seal."""


class TooManyReaders(JudgeError):
    """As many follow debates live as this server serves."""


class TooManyReports(JudgeError):
    """The server computes as many reports of runs as it may."""


class RunTooLarge(JudgeError):
    """The run has more debates than a server computes statistics of."""


class JournalFailed(JudgeError):
    """The deliveries of a webhook cannot be recorded now; the message names the file. A later attempt goes on."""


class ExtraMissing(JudgeError):
    """Packages of an extra are not installed; the message has the command that installs them."""
