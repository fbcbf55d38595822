"""Errors of this component."""

from collections.abc import Mapping

from pydantic import ValidationError

from jury_events.errors import JuryError


class JudgeError(JuryError):
    """What the front door was given cannot be used."""


class CaseFileError(JudgeError):
    """A file of cases, votes or labels, or one row, cannot be read; the message begins with `file:line` if known."""


class ArtifactSourceError(JudgeError):
    """The records behind a `security_gate_uri` or `agent_card_uri` cannot be read."""


class PanelFileError(JudgeError):
    """A panel, a panel file or a variable that changes it cannot be used; the message names the file or variable."""


class SettingError(JudgeError):
    """A setting has a value that it cannot have; the message names the variable or flag."""


def condensed(error: ValidationError) -> str:
    """The first complaint of pydantic in one line, `field: message`; the refused value is left out."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


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


class OutputClosed(JudgeError):
    """The reader of the results is gone before the work is done; the message has the way to resume."""


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


class BadPoint(JudgeError):
    """A reader names a place to go on from that is none."""


class TooManyReaders(JudgeError):
    """As many follow debates live as this server serves."""


class PanelNotServed(JudgeError):
    """The server is read-only, or does not have the requested panel."""


class TooManyReports(JudgeError):
    """The server computes as many reports of runs as it may."""


class RunTooLarge(JudgeError):
    """The run has more debates than a server computes statistics of."""


class TooManySubmissions(JudgeError):
    """The server runs as many evaluations and runs as it may."""


class ServeRefused(JudgeError):
    """The server cannot be started as it is asked to be."""


class ReportRefused(JudgeError):
    """A report cannot be put where it is to be; the message names the place, and nothing was judged."""


class ReportFailed(JudgeError):
    """A report could not be written once everything was judged; the message names the file. The judgments are kept."""


class JournalFailed(JudgeError):
    """The deliveries of a webhook cannot be recorded now; the message names the file. A later attempt goes on."""


class ExtraMissing(JudgeError):
    """Packages of an extra are not installed; the message has the command that installs them."""
