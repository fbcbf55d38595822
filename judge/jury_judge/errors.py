"""Errors of this component."""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Self

from jury_events.errors import DebateNotFound, Failure, InputError, SettingError, Worded
from jury_events.text import pluralize, visible_line


class JudgeError(InputError):
    """What the front door was given cannot be used."""


class PanelFileError(JudgeError):
    """A panel, a panel file or a variable that changes it cannot be used; the message names the file or variable."""


class CalibrationUntrusted(PanelFileError):
    """A calibration file is not signed by a trusted key, or its signature is of other content."""

    failure = Failure.ALTERED


class VotesNotAlike(JudgeError):
    """Files that are to be counted together have different verdicts; the message names one of them."""


class SettingsFileError(JudgeError):
    """A settings file cannot be used; the message names the file, and the line and field that are meant."""


class RunRefused(JudgeError):
    """A run cannot go on as it is asked to: its panel or a case is not what it was begun with."""

    failure = Failure.TAKEN


class OtherCase(RunRefused):
    """A debate was begun over another case than the one that is given under its id."""


class JuryClosed(JudgeError):
    """A jury was used outside of its `async with`, or left while it judged; what ran can be resumed."""

    failure = Failure.UNAVAILABLE


class RunUnfinished(JudgeError):
    """Some debates of a run could not go on; `problems` has why, by debate id. The same run again goes on with them.

    `cancelled_by`: who cancelled the run; None: nobody did.
    """

    def __init__(self, message: str, problems: Mapping[str, BaseException], *, cancelled_by: str | None = None) -> None:
        super().__init__(message)
        self.problems = problems
        self.cancelled_by = cancelled_by

    @classmethod
    def of(cls, run_id: str, total: int | None, problems: Sequence[tuple[str, BaseException | None]]) -> Self:
        """Of these debates, with what stopped each, of the `total` debates of the run (None: not known)."""
        first = visible_line(str(problems[0][1]), 300)
        debates = pluralize(len(problems), "debate")
        of_all = debates if total is None else f"{len(problems)} of the {pluralize(total, 'debate')}"
        return cls(
            f"{of_all} of run {run_id} could not go on (the first: {first}); "
            f"mend the cause and call it again with run_id={run_id!r}: it resumes the run",
            {debate_id: problem for debate_id, problem in problems if problem is not None},
        )

    @classmethod
    def short(cls, run_id: str, total: int | None, results: int, cancelled_by: str | None) -> Self:
        """Of a run with fewer results than the `total` that it is to have (None: not known), and no problem."""
        rest = "some debates" if total is None else pluralize(total - results, "debate")
        what = f"run {run_id} ended" if cancelled_by is None else f"run {run_id} was cancelled by {cancelled_by}"
        return cls(
            f"{what}; {rest} of it were not begun: call it again with run_id={run_id!r} to begin them",
            {},
            cancelled_by=cancelled_by,
        )


class NoEvaluation(JudgeError):
    """A juror that was used by itself gave no usable answer; the message says where its calls are recorded."""


class NoneCounted(DebateNotFound, Worded):
    """Debates are there, and none of them counts for its case."""


class BranchTaken(JudgeError, Worded):
    """The id that a branch is to have belongs to another debate, or to a branch with other settings."""

    failure = Failure.TAKEN


class ReviewRefused(JudgeError):
    """A review cannot be recorded as it is; the message names the debate and what to do."""


class ReasonRefused(ReviewRefused):
    """The reason of a review cannot be recorded; the verdict can, with another reason."""


class NotComparable(JudgeError):
    """Two ids do not name two debates, nor two runs."""


class AttestationFailed(JudgeError):
    """A witness or a time-stamping authority cannot be asked, or states nothing of the seal."""

    failure = Failure.STOPPED


class TooManyReaders(JudgeError):
    """As many follow debates live as this server serves."""

    failure = Failure.UNAVAILABLE


class TooManyReports(JudgeError):
    """The server computes as many reports of runs as it may."""

    failure = Failure.UNAVAILABLE


class TooManyReviews(JudgeError):
    """As many reviews of one person wait as may."""

    failure = Failure.UNAVAILABLE


class ReviewerLeft(JudgeError):
    """The client disconnected before its review was recorded."""

    failure = Failure.UNAVAILABLE


class RunTooLarge(JudgeError):
    """The run has more debates than a server computes statistics of."""


class PanelNotServed(JudgeError):
    """The server is read-only, or does not have the requested panel."""


class JournalFailed(JudgeError):
    """The deliveries of a webhook cannot be recorded now; the message names the file. A later attempt goes on."""

    failure = Failure.STOPPED


class ExtraMissing(JudgeError):
    """Packages of an extra are not installed; the message has the command that installs them."""

    failure = Failure.NOT_INSTALLED


class ReportRefused(JudgeError):
    """A report cannot be put where it is to be; the message names the place, and nothing was judged."""


class ReportFailed(JudgeError):
    """A report could not be written once everything was judged; the message names the file. The judgments are kept."""

    failure = Failure.STOPPED


class SettingsRefused(SettingError, Worded):
    """Settings exclude each other, or need each other. Arguments as of the bases; `usage` as there, of this message."""

    def __init__(self, template: str, *, usage: bool = True) -> None:
        super().__init__(template)
        self.usage = usage

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the message names, in its order."""
        return tuple(field for _, field, _form, _change in Formatter().parse(self.template) if field is not None)


def escaped(text: str) -> str:
    """A text as part of a template: without fields."""
    return text.replace("{", "{{").replace("}", "}}")


class NoSeal(SettingsRefused):
    """There is no seal over so many events, or none at all, or none over the debate."""
