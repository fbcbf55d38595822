"""What files of cases hold and jurors would be shown of it, before anything is run; a draft of a format for others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from jury_cases.case_files import CaseFiles
from jury_cases.errors import CaseFileError
from jury_cases.labels import directions, map_option
from jury_cases.omissions import OmissionReport, UnreadableRows, omissions_text
from jury_events.case import Case
from jury_events.conditions import fields_of
from jury_events.text import visible, visible_line
from jury_events.transcript import Item, Message
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.files import LoadedPanel
from jury_judge.runs.case_fit import CaseFit, Rehearsal
from jury_judge.runs.preflight import sees_images
from jury_providers.provider import estimated_tokens
from jury_views.case_view import marker_in, plain_prompt

_MEASURED = 200
"""The prompts of so many cases, the first ones, are measured."""


_NAMED = 12
"""Words that are named in one line."""


class ShownCase(NamedTuple):
    """A case as jurors see it; `text` is None beyond the head. `not_shown`: the parts of it that no juror is shown.

    `position`: of its row in the file. `messages`: for each scenario the number of the source's message of each item of
    the transcript, from 0.
    """

    case_id: str
    text: str | None
    not_shown: str | None
    position: str | None
    messages: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LabelWord:
    """A word that labels are, how often it was seen, and what it means; `verdict` is None for no label.

    `label` is the word of the panel's scale that it means, None where it means a verdict alone.
    """

    word: str
    count: int
    verdict: str | None
    understood: bool
    label: str | None = None

    def data(self, *, scaled: bool) -> dict[str, Any]:
        """As JSON data; `scaled`: with the label, since the panel has a scale of its own."""
        return {name: value for name, value in asdict(self).items() if scaled or name != "label"}


class CasePreview:
    """The cases of files before a panel: iterated, it shows them one by one; then its counts are over all of them.

    Args:
        files: where the cases stand, and which of them are taken.
        head: the texts of so many cases are shown, the first ones.
        seat: show the whole first prompt of this seat instead of the case.
        marked: show texts as they are sent, with the marks that keep data and orders apart.
    """

    def __init__(
        self, files: CaseFiles, loaded: LoadedPanel, *, head: int = 1, seat: str | None = None, marked: bool = False
    ) -> None:
        seats = loaded.panel.juror_ids
        if seat is not None and seat not in seats:
            raise SettingsRefused("{seat} " + escaped(f"{seat!r}: no such seat; the seats are {', '.join(seats)}"))
        self._files = files
        self._loaded = loaded
        self._head = head
        self._seat = seat
        self._marked = marked
        self._policy = loaded.redaction.policy(files.policy)
        self._verdicts: Counter[str] = Counter()
        self.omissions = OmissionReport(loaded.panel)
        """How many cases were read, and what no juror is shown of them."""
        self.fields: Counter[str] = Counter()
        """The fields of the cases, and how many cases have each."""
        self.tokens: list[int] = []
        """Of the first cases, the tokens of the longest first prompt, estimated, with its pictures."""

    def __iter__(self) -> Iterator[ShownCase]:
        """Read the cases once."""
        measured = max(self._head, _MEASURED)
        for case in self._loaded.redaction.cases(self._files)(lambda _case: self.omissions.cases < measured):
            omissions = self.omissions.add(case)
            number = self.omissions.cases
            self._verdicts[case.label or "none"] += 1
            self.fields.update(name for name in fields_of(case) if name not in {"case_id", "label"})
            if number <= _MEASURED:
                self.tokens.append(self._longest(case))
            text = self._text(case) if number <= self._head else None
            yield ShownCase(
                case.case_id,
                text,
                omissions_text(omissions) if omissions else None,
                case.position,
                tuple(
                    tuple(source.message for source in scenario.execution.transcript.sources)
                    for scenario in case.scenarios
                ),
            )

    @property
    def formats(self) -> Counter[str]:
        """How many rows have each format."""
        return self._files.notes.formats

    @property
    def taken(self) -> Counter[str]:
        """What was read from plain columns, as `question from input`, and of how many rows."""
        return self._files.notes.taken

    @property
    def changes(self) -> Counter[str]:
        """What of rows was read as something else, and of how many rows."""
        return self._files.notes.changes

    @property
    def passed_over(self) -> tuple[str, ...]:
        """A line for each column that says otherwise than the one that a part is read from."""
        return tuple(self._files.notes.columns_passed_over())

    @property
    def unread(self) -> Counter[str]:
        """The columns that no part of a case is read from, and how many rows have each."""
        return self._files.notes.unread

    @property
    def unmatched_roles(self) -> tuple[str, ...]:
        """A line for each rule for roles that matched nothing."""
        return self._files.notes.unmatched_roles()

    @property
    def unreadable(self) -> UnreadableRows:
        """What was left out, since it cannot be read."""
        return self._files.unreadable

    @property
    def label_remedy(self) -> str | None:
        """How to say what the words mean that are not understood; None: all are."""
        unknown = [visible_line(one.word, 60) for one in self.label_words if not one.understood]
        if not unknown:
            return None
        ways = (directions(word, "label:") for word in unknown if self._loaded.panel.scale is None)
        return next(filter(None, ways), f"say what they mean: {map_option('label:', unknown[:_NAMED])}")

    @property
    def label_words(self) -> tuple[LabelWord, ...]:
        """The words of the labels, the most frequent first."""
        return tuple(self._word(word, count) for word, count in self._files.notes.labels.most_common())

    @property
    def unused_words(self) -> tuple[str, ...]:
        """The words that are given a meaning, and that no label is."""
        seen = set(self._files.notes.labels)
        return tuple(word for word in self._files.labels.mapped if word not in seen)

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        scaled = self._loaded.panel.scale is not None
        return {
            "cases": self.omissions.cases,
            "formats": dict(self.formats),
            "taken": dict(self.taken),
            "changes": dict(self.changes),
            "labels": dict(self._verdicts),
            "label_words": [one.data(scaled=scaled) for one in self.label_words],
            "fields": dict(self.fields),
            "columns_not_read": dict(self.unread),
            "columns_passed_over": list(self.passed_over),
            "roles_not_seen": list(self.unmatched_roles),
            "not_shown": self.omissions.data(),
            "unreadable": {"count": self.unreadable.count, "errors": self.unreadable.errors},
            "first_prompt_tokens": {
                "measured": len(self.tokens),
                "mean": round(sum(self.tokens) / len(self.tokens)) if self.tokens else None,
                "most": max(self.tokens, default=None),
            },
        }

    def _word(self, word: str, count: int) -> LabelWord:
        try:
            meant = self._files.labels.meaning(word)
        except ValueError:
            return LabelWord(word, count, None, understood=False)
        if meant is None:
            return LabelWord(word, count, None, understood=True)
        return LabelWord(word, count, meant.verdict, understood=True, label=meant.label)

    def _text(self, case: Case) -> str:
        resolved = self._loaded.resolved
        rehearsal = Rehearsal(case, resolved, self._policy)
        if self._seat is None:
            shown = rehearsal.case_piece(images=sees_images(resolved.panel))
            text = f"{rehearsal.policy_piece}{shown}".rstrip("\n")
        else:
            text = "\n\n".join(
                f"--- {message.role}{f', then {message.images} pictures' if message.images else ''} ---\n{message.text}"
                for message in rehearsal.first_prompt(self._seat)
            )
        return text if self._marked else plain_prompt(text, marker_in([text]))

    def _longest(self, case: Case) -> int:
        rehearsal = Rehearsal(case, self._loaded.resolved, self._policy)
        prompts = [rehearsal.first_prompt(seat) for seat in self._loaded.panel.juror_ids]
        return max(
            estimated_tokens(sum(len(one.text.encode()) for one in prompt), sum(one.images for one in prompt))
            for prompt in prompts
        )


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
    """

    def __init__(self, files: CaseFiles, loaded: LoadedPanel) -> None:
        self._files = files
        self._panel = loaded.panel
        self.fit = CaseFit(loaded.resolved, loaded.endpoints, loaded.redaction.policy(files.policy))
        """Which cases are longer than the windows of which models."""
        self.formats: dict[str, FormatSummary] = {}
        """By the name of the format, in the order of their first cases."""

    def __iter__(self) -> Iterator[str]:
        """Read the cases once; yields the id of each after it was counted."""
        for case, name in self._files.read_with_formats(lambda _case: False):
            if name not in self.formats:
                self.formats[name] = FormatSummary(OmissionReport(self._panel))
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


class CaseProposal(NamedTuple):
    """A draft.

    Attributes:
        draft: of a format file, as YAML.
        shown: the first case as it would be shown; the reason if it could not be read.
        parts: of a case, for which it has expressions.
        unplaced: columns, and fields of messages, that the draft has no place for.
        guesses: what of it is to be checked, in words.
    """

    draft: str
    shown: str
    parts: tuple[str, ...]
    unplaced: tuple[str, ...]
    guesses: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """A format file: the draft, and the rest as its comments."""
        yield "# A draft of a format file: correct it, then jury cases FILE --format THIS.yaml"
        yield from self.draft.splitlines()
        yield from (f"# check: {visible_line(one, 200)}" for one in self.guesses)
        if not ({"response", "messages"} & {*self.parts} or self.guesses):
            yield "# response: EXPRESSION    no column looks like the agent's answer"
        if "question" not in self.parts and "messages" not in self.parts:
            yield "# question: EXPRESSION    no column looks like the request; or --question TEXT"
        yield ""
        placed = ", ".join(visible_line(one, 60) for one in self.unplaced)
        yield f"# could not be placed: {placed or 'nothing'}"
        yield "# the first case, as it would be shown:"
        yield from (f"#   {line}".rstrip() for line in visible(self.shown).splitlines())


def propose_format(files: CaseFiles, loaded: LoadedPanel) -> CaseProposal:
    """A draft for the rows of the first file."""
    proposal = files.proposal()
    preview = CasePreview(files.reading_as(proposal.content), loaded)
    try:
        first = next(iter(preview), None)
        shown = "" if first is None else first.text or ""
        left = list(preview.omissions.kinds)
    except CaseFileError as error:
        shown, left = f"not read: {error}", []
    unplaced = (*proposal.unplaced, *left)
    return CaseProposal(proposal.text(), shown, tuple(proposal.content), unplaced, proposal.guesses)
