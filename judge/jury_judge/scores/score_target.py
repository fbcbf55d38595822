"""A tool that takes scores."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from jury_events.errors import Failure, InputError
from jury_events.local_events import ExportedScore, ScoreTargetName
from jury_judge.scores.debate_scores import DebateScore, JudgedTrace

_MOST = 300
"""Characters of a place on record."""


class ScoresRefused(InputError):
    """A tool did not take scores; the message names it and the reason. What was recorded before stays written."""

    failure = Failure.STOPPED


class ScoreTarget(Protocol):
    """Takes the scores of one trace after the other.

    Attributes:
        name: of the tool.
        place: its address, without credentials.
        repeats: whether it would take the same score twice.
    """

    name: ScoreTargetName
    place: str
    repeats: bool

    def refusal(self, trace: JudgedTrace) -> str | None:
        """Why this trace cannot be one of the tool's, in words; None: it can."""
        ...

    def write(
        self, trace: JudgedTrace, scores: Sequence[DebateScore], before: Mapping[str, ExportedScore]
    ) -> Mapping[str, str | None]:
        """Write scores, all in one call of this method; returns the tool's ids by name.

        Args:
            trace: what was judged.
            scores: those that the tool does not have, or has with another content.
            before: the scores that it has, by name.
        """
        ...

    def close(self) -> None:
        """Close what is open to the tool; nothing is written afterwards."""
        ...


def place_of(url: str) -> str:
    """An address as it is recorded: without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))[:_MOST] or "default"
