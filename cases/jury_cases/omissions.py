"""What is not shown of cases, and what could not be read."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_events.case import Case, Omission
from jury_events.panel import Panel
from jury_events.text import pluralize, shown_size, visible_line
from jury_events.transcript import Attachment, Event, Item, NotShown, ToolCall, ToolResult, Transcript

_NAMED = 8
"""Maximum number of kinds in a line."""


class OmissionCount(NamedTuple):
    """One kind: number of cases, of occurrences, and known bytes (`whole`: the sizes of all are known)."""

    cases: int
    times: int
    size: int
    whole: bool

    def with_omission(self, omission: Omission) -> "OmissionCount":
        """The count including another case's omission."""
        size = self.size + (omission.size or 0)
        return OmissionCount(
            self.cases + 1, self.times + omission.count, size, self.whole and omission.size is not None
        )


class OmissionReport:
    """Counts parts not shown to any juror, and pictures not shown to some.

    Args:
        panel: of these jurors.
    """

    def __init__(self, panel: Panel) -> None:
        places = panel.seats_and_judge
        self._blind = [getattr(place, "juror_id", "the final judge") for place in places if not place.images]
        self._images_seen = len(self._blind) < len(places)
        self._pictures = 0
        self._kinds: dict[str, OmissionCount] = {}
        self.cases = 0
        self.with_omissions = 0

    def add(self, case: Case) -> tuple[Omission, ...]:
        """Count a case; returns its omissions."""
        omissions = case.omissions(images_seen=self._images_seen)
        self.cases += 1
        self._pictures += len(case.images)
        self.with_omissions += bool(omissions)
        for omission in omissions:
            self._kinds[omission.what] = self._kinds.get(
                omission.what, OmissionCount(0, 0, 0, whole=True)
            ).with_omission(omission)
        return omissions

    def of(self, case: Case) -> tuple[Omission, ...]:
        return case.omissions(images_seen=self._images_seen)

    @property
    def kinds(self) -> dict[str, OmissionCount]:
        """The counts by kind, most frequent first."""
        return dict(sorted(self._kinds.items(), key=lambda kind: (-kind[1].times, kind[0])))

    def line(self) -> str | None:
        """A one-line summary; None if everything is shown."""
        if not self._kinds:
            return None
        named = [_counted(what, found.times, found.size if found.whole else None) for what, found in self.kinds.items()]
        more = f" and {len(named) - _NAMED} more kinds" if len(named) > _NAMED else ""
        of_cases = f"{self.with_omissions:,} of {pluralize(self.cases, 'case')}"
        return f"not shown to any juror, in {of_cases}: {', '.join(named[:_NAMED])}{more}"

    def blind_line(self) -> str | None:
        """A line with the jurors that are not shown pictures, if others are; else None."""
        if not (self._images_seen and self._blind and self._pictures):
            return None
        return f"{pluralize(self._pictures, 'picture')} not shown to {', '.join(self._blind)}, and shown to the others"

    def data(self) -> dict[str, Any]:
        """The counts as JSON data; `size` is null unless all sizes are known."""
        return {
            "cases": self.with_omissions,
            "pictures_not_shown_to": self._blind if self.blind_line() else [],
            "kinds": [
                {"what": what, "cases": one.cases, "count": one.times, "size": one.size if one.whole else None}
                for what, one in self.kinds.items()
            ],
        }


def omissions_text(omissions: Iterable[Omission]) -> str:
    """The omissions of one case in one line."""
    return ", ".join(_counted(omission.what, omission.count, omission.size) for omission in omissions)


def without_omissions(cases: Iterable[Case], *, images_seen: bool) -> Iterator[Case]:
    """The cases, if jurors are shown all of each (`--strict`)."""
    for case in cases:
        if omissions := case.omissions(images_seen=images_seen):
            raise CaseFileError(
                f"case {visible_line(case.case_id, 120)!r}: jurors would not be shown {omissions_text(omissions)}; "
                "leave the case out, or run without --strict"
            )
        yield case


def _counted(what: str, count: int, size: int | None) -> str:
    return f"{count:,} {what}" + ("" if size is None else f" ({shown_size(size)})")


_NAMES = 6
_CONTENTS = (Attachment, Event, ToolCall, ToolResult)


def refuse_unshown(prompt: str, response: str, transcript: Transcript) -> None:
    """Refuse a case whose request, or whole record, is empty while parts of its row are not shown.

    A request may be a file that is shown alone.
    """
    unseen = [item for item in transcript.items if isinstance(item, NotShown)]
    if not unseen:
        return
    if not prompt.strip() and not _is_file(transcript) and any(item.origin in _ASKING for item in unseen):
        what = "question: the request"
    elif not (prompt.strip() or response.strip()) and not any(map(_is_content, transcript.items)):
        what = "the record"
    else:
        return
    counted = Counter(item.what for item in unseen)
    named = ", ".join(f"{count} × {name}" for name, count in counted.most_common(_NAMES))
    more = "" if len(counted) <= _NAMES else f" and {len(counted) - _NAMES} more kinds"
    raise CaseFileError(
        f"{what} has nothing that jurors can be shown, and parts of the row are not shown: {named}{more}; "
        "name the format of the row with --format, or the columns of its parts with --field; "
        "jury cases FILE --propose drafts a format file"
    )


_ASKING = frozenset({"user", "unknown", "environment"})


def _is_file(transcript: Transcript) -> bool:
    return any(isinstance(item, Attachment) and item.origin == "user" for item in transcript.items)


def _is_content(item: Item) -> bool:
    return isinstance(item, _CONTENTS) or bool(getattr(item, "text", "").strip())


MOST_KEPT = 1000
"""The most errors of which the text is kept."""


@dataclass
class UnreadableRows:
    """Decides on the error of a row, a trace or a file.

    Attributes:
        skip: leave out what cannot be read; else the error is raised.
        errors: the errors in the order of their first occurrence, each one line that begins with its place; at most
            `MOST_KEPT`.
    """

    skip: bool = False
    errors: list[str] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        """How many different errors there were; files that are read twice have each once."""
        return len(self._seen)

    def leave_out(self, error: CaseFileError) -> None:
        """Note an error."""
        if not self.skip:
            raise error
        line = str(error)
        if hash(line) in self._seen:
            return
        self._seen.add(hash(line))
        if len(self.errors) < MOST_KEPT:
            self.errors.append(line)

    def lacks(self, file: str) -> bool:
        """Whether lines of a file were left out; also if there are more errors than are kept."""
        return self.count > len(self.errors) or any(line.startswith(f"{file}:") for line in self.errors)

    def lines(self) -> Iterator[str]:
        """The list for people; empty if everything was read."""
        if not self.count:
            return
        yield f"left out, since it cannot be read: {pluralize(self.count, 'row')} (or trace, or file)"
        for line in self.errors:
            yield f"  {line}"
        if self.count > len(self.errors):
            yield f"  and {self.count - len(self.errors)} more"
