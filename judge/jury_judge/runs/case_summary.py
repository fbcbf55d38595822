"""What the cases of files consist of: shapes, items, speakers, and what no juror is shown of them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from jury_cases.files import CaseFiles
from jury_cases.omissions import OmissionReport, UnreadableRows
from jury_events.case import Case
from jury_events.transcript import Item, Message
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.case_fit import CaseFit
from jury_judge.runs.preflight import omission_report

_ROLES = {"user": "user", "model": "agent"}
"""Names of authors that have none, by origin; others are no speakers."""


class FormatSummary:
    """The cases whose rows have one format.

    Attributes:
        items: how many items there are, by kind; results of tools that failed are `tool error`.
        speakers: how many messages, thoughts, refusals and tool calls each speaker has.
        omissions: how many cases there are, and what no juror is shown of them.
    """

    def __init__(self, omissions: OmissionReport) -> None:
        self.items: Counter[str] = Counter()
        self.speakers: Counter[str] = Counter()
        self.omissions = omissions

    def add(self, case: Case) -> None:
        """Count a case."""
        self.omissions.add(case)
        for scenario in case.scenarios:
            for item in scenario.execution.transcript.items:
                self.items[_kind(item)] += 1
                if (speaker := _speaker(item)) is not None:
                    self.speakers[speaker] += 1

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "cases": self.omissions.cases,
            "items": dict(self.items.most_common()),
            "speakers": dict(self.speakers.most_common()),
            "not_shown": self.omissions.data(),
        }


class CaseSummary:
    """Counts the cases of files by the formats of their rows. No record behind a URI is fetched.

    Args:
        files: where the cases stand, and which of them are taken.
        loaded: who would judge them, which decides whether pictures are shown and what is too long.

    Raises:
        CaseFileError: the policy of the cases cannot be redacted.
    """

    def __init__(self, files: CaseFiles, loaded: LoadedPanel) -> None:
        self._files = files
        self._panel = loaded.panel
        self.fit = CaseFit(loaded.resolved, loaded.endpoints, loaded.redaction.policy(files.policy))
        """Which cases are longer than the windows of which models."""
        self.formats: dict[str, FormatSummary] = {}
        """By the name of the format, in the order of their first cases."""

    def __iter__(self) -> Iterator[str]:
        """Read the cases once; yields the id of each after it was counted.

        Raises:
            CaseFileError: a case cannot be read.
        """
        for case, name in self._files.read_with_formats(lambda _case: False):
            if name not in self.formats:
                self.formats[name] = FormatSummary(omission_report(self._panel))
            self.formats[name].add(case)
            self.fit.add(case)
            yield case.case_id

    @property
    def taken(self) -> Counter[str]:
        """What was read from plain columns, as `question from input`, and of how many rows."""
        return self._files.notes.taken

    @property
    def unreadable(self) -> UnreadableRows:
        """What was left out, since it cannot be read."""
        return self._files.unreadable

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "formats": {name: one.data() for name, one in self.formats.items()},
            "taken": dict(self.taken),
            "fit": self.fit.data(),
            "unreadable": {"count": self.unreadable.count, "errors": self.unreadable.errors},
        }


def _kind(item: Item) -> str:
    if item.kind == "tool_result" and item.error:
        return "tool error"
    return item.kind.replace("_", " ")


def _speaker(item: Item) -> str | None:
    """Who said an item; None for results, files and events."""
    if isinstance(item, Message):
        return None if item.kind == "system" else item.name or _ROLES.get(item.origin)
    return _ROLES.get(item.origin) if item.kind in {"reasoning", "refusal", "tool_call"} else None
