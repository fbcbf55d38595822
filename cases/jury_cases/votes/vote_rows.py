"""A row of a table as votes of seats and labels of annotators."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa

from jury_analysis.ballots import EVIDENCE, KINDS, LABEL_FACTS, LABELS, OWN_WORDS, REASONING, ROLES
from jury_cases.columns import listing
from jury_cases.errors import CaseFileError
from jury_cases.votes.seats import (
    EVERY_JUDGE,
    IN_A_SEAT,
    MAX_SEATS,
    OF_A_BALLOT,
    OF_A_VOTE,
    FieldReader,
    SeatColumns,
    VoteOptions,
    WideTable,
    flag_of,
    name_of,
    number_within,
    too_many_seats,
    whole_number,
)
from jury_cases.votes.words import VerdictWords
from jury_events.text import visible_line

ANNOTATOR = "annotator"
"""The role of a row of a table of ballots that is no vote but a human's label: the seat is the annotator, the verdict
the label. So labels of cases without votes have a row too."""

Values = dict[str, Any]
"""Values by column of the ballots table; a column without a value is left out."""

_MOST_ROUNDS = 1000
_UNBOUNDED = float("inf")
_LONG = 2**63 - 1


class VotesOfRow(NamedTuple):
    """What a row says.

    Attributes:
        debate: the columns that all of its votes share.
        votes: the columns of each vote, by seat.
        labels: the labels of human annotators, by name.
    """

    debate: Values
    votes: list[tuple[str, Values]]
    labels: list[tuple[str, str]]


class VoteRowReader:
    """Reads the rows of files of votes.

    Attributes:
        judges: the columns of seats; None until a row was read, and where a row is one vote.
    """

    def __init__(self, options: VoteOptions) -> None:
        self._options = options
        self._words = options.words
        self._fields = FieldReader(options.fields)
        self._chosen = frozenset(options.seats) or None
        self.judges: SeatColumns | None = None
        if options.judges:
            self._read_seats(options.judges)
        self._annotators = SeatColumns(options.annotators) if options.annotators else None
        self._single: set[str] = set()
        self._begun = bool(options.judges)
        self._wide: WideTable | None = None

    @property
    def seats(self) -> set[str]:
        """The names of all seats seen, chosen or not."""
        return self._single if self.judges is None else self.judges.seen

    @property
    def annotators(self) -> set[str]:
        """The names of all annotators seen."""
        return set() if self._annotators is None else self._annotators.seen

    def read(self, row: Any, default_id: str) -> VotesOfRow:
        """The votes of the chosen seats in a row."""
        if not isinstance(row, dict):
            raise CaseFileError("a row of votes must be an object with columns")
        if not self._begun:
            self._begin(row)
        elif self._wide is not None:
            self._wide.check(row)
        parts = self._fields.read(row)
        labels = [] if self._annotators is None else list(self._labels(row))
        if self.judges is not None:
            debate = self._debate(parts, row, default_id)
            return VotesOfRow(debate, [(seat, self._vote(said, seat)) for seat, said in self.judges.votes(row)], labels)
        if parts.get("role") == ANNOTATOR:
            return VotesOfRow(self._debate(parts, row, None), [], list(self._label_row(parts)))
        seat = self._seat(parts, row)
        debate = self._debate(parts, row, None)
        if self._chosen is not None and seat not in self._chosen and parts.get("role") != "judge":
            return VotesOfRow(debate, [], labels)
        if "verdict" not in parts and not self._fields.has(row, "verdict"):
            raise CaseFileError(
                f"verdict: missing; name the column with --field verdict=COLUMN; the row has {listing(row)}"
            )
        return VotesOfRow(debate, [(seat, self._vote(parts, ""))], labels)

    def _begin(self, row: dict[str, Any]) -> None:
        """Decide by the first row what a row is."""
        self._begun = True
        if self._fields.has(row, "seat"):
            return
        if SeatColumns([EVERY_JUDGE]).is_in(row):
            self._read_seats([EVERY_JUDGE])
        elif not self._fields.has(row, "verdict"):
            wide = WideTable(row, self._words)
            if wide.judges:
                self._wide = wide
                self._read_seats(wide.judges)

    def _read_seats(self, patterns: Sequence[str]) -> None:
        """A row is a case: the parts of one vote are named in the object of each seat, the others in the row."""
        named = self._options.fields
        within = {part: column for part, column in named.items() if part in IN_A_SEAT}
        self.judges = SeatColumns(patterns, self._chosen, within)
        of_row = {part: column for part, column in named.items() if part not in IN_A_SEAT}
        self._fields = FieldReader(of_row, of_cases=True)

    def _seat(self, parts: Values, row: dict[str, Any]) -> str:
        seat = name_of(parts["seat"], "seat") if "seat" in parts else None
        if seat is None:
            raise CaseFileError(
                "seat: missing; name the column with --field seat=COLUMN, or the columns of the judges with "
                f"--judges COLUMN --judges COLUMN; the row has {listing(row)}"
            )
        self._single.add(seat)
        if len(self._single) > MAX_SEATS:
            raise too_many_seats("the column of the seats with --field seat=COLUMN")
        return seat

    def _debate(self, parts: Values, row: dict[str, Any], default_id: str | None) -> Values:
        found: Values = {}
        for part in ("case_id", "debate_id", "run_id", "cluster", "variant", "panel"):
            if part in parts and (name := name_of(parts[part], part)) is not None:
                found[part] = name
        if "case_id" not in found:
            if default_id is None:
                raise CaseFileError(
                    f"case_id: missing; name the column with --field case_id=COLUMN; the row has {listing(row)}"
                )
            found["case_id"] = default_id
        if "label" in parts and (label := self._words.meaning(parts["label"], "label")) is not None:
            found["label"] = label
        for part, read in _OF_A_CASE.items():
            if part in parts:
                found[part] = read(parts[part], part)
        found["round"] = whole_number(parts["round"], "round", 0, _MOST_ROUNDS) if "round" in parts else 0
        found["repeat"] = whole_number(parts["repeat"], "repeat", 1) if "repeat" in parts else 1
        if "debate_id" not in found:
            found["debate_id"] = _debate_id(found)
        return found

    def _vote(self, parts: Values, seat: str) -> Values:
        try:
            return _vote(parts, self._words)
        except CaseFileError as error:
            raise type(error)(f"{visible_line(seat, 60)}: {error}" if seat else str(error)) from error

    def _label_row(self, parts: Values) -> Iterator[tuple[str, str]]:
        annotator = None if "seat" not in parts else name_of(parts["seat"], "seat")
        if annotator is None:
            raise CaseFileError(f"seat: missing; a row of the role {ANNOTATOR} has the annotator's name there")
        label = self._words.meaning(parts.get("verdict"), "label")
        if label is not None:
            yield annotator, label

    def _labels(self, row: dict[str, Any]) -> Any:
        assert self._annotators is not None
        for annotator, parts in self._annotators.votes(row):
            try:
                label = self._words.meaning(parts.get("verdict"), "label")
            except CaseFileError as error:
                raise type(error)(f"{visible_line(annotator, 60)}: {error}") from error
            if label is not None:
                yield annotator, label


def _debate_id(debate: Values) -> str:
    others = [f"{part} {debate[part]}" for part in ("run_id", "panel", "variant") if part in debate]
    if debate["repeat"] > 1:
        others.append(f"repeat {debate['repeat']}")
    return f"{debate['case_id']} ({', '.join(others)})" if others else str(debate["case_id"])


def _vote(parts: Values, words: VerdictWords) -> Values:
    found: Values = {}
    verdict = words.meaning(parts.get("verdict"), "verdict")
    if verdict is not None:
        found["verdict"] = verdict
    for part, read in _PARTS.items():
        if part in parts and not (verdict is None and part in _OF_A_VERDICT):
            found[part] = read(parts[part], part)
    if "final_verdict" in parts:
        found["final_verdict"] = words.meaning(parts["final_verdict"], "verdict")
    found.setdefault("kind", "abstained" if verdict is None else "own")
    if (found["kind"] == "abstained") != (verdict is None):
        raise CaseFileError(
            f"kind: {found['kind']} does not go with {'no verdict' if verdict is None else 'a verdict'}"
        )
    return found


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any, str], str]:
    def read(written: Any, part: str) -> str:
        if written not in allowed:
            raise CaseFileError(f"{part}: must be one of {', '.join(allowed)}, or left out with --field {part}=")
        return str(written)

    return read


def _within(least: float, most: float) -> Callable[[Any, str], float]:
    return lambda written, part: number_within(written, part, least, most)


def _count(most: int) -> Callable[[Any, str], int]:
    return lambda written, part: whole_number(written, part, 0, most)


_PARTS: dict[str, Callable[[Any, str], Any]] = {
    "role": _one_of(ROLES),
    "kind": _one_of(KINDS),
    "score": _within(0, 100),
    "confidence": _within(0, 1),
    "weight": _within(0, _UNBOUNDED),
    "changed": flag_of,
    "model_asked": name_of,
    "model_answered": name_of,
    "calls": _count(2**31 - 1),
    "input_tokens": _count(_LONG),
    "output_tokens": _count(_LONG),
    "cost": _within(0, _UNBOUNDED),
    "simulated": flag_of,
    "final_score": _count(2**31 - 1),
    "decisive_message": _count(2**31 - 1),
    **dict.fromkeys(EVIDENCE.names, _count(2**31 - 1)),
    "read_percent": _count(100),
    **dict.fromkeys((*REASONING.names, *OWN_WORDS.names), name_of),
}
"""How the parts of a vote besides its verdicts are read."""

_OF_A_CASE: dict[str, Callable[[Any, str], Any]] = {
    "label_message": _count(2**31 - 1),
    "message_count": lambda written, part: whole_number(written, part, 1),
    "outcome_correct": flag_of,
}
"""How what is known of the messages of a case is read."""

_OF_A_VERDICT = ("score", "confidence", "decisive_message")
"""An abstention has none of these."""

assert {*_PARTS, "final_verdict"} == {*OF_A_BALLOT, *OF_A_VOTE} - {"seat", "verdict"}


class Annotations:
    """Labels by case and annotator."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, str], tuple[str, str]] = {}
        self._facts: dict[tuple[str, str], Mapping[str, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._labels)

    def add(
        self,
        place: str,
        case_id: str,
        labels: Iterable[tuple[str, str]],
        *,
        facts: Mapping[str, Any] = MappingProxyType({}),
        once: bool = False,
    ) -> None:
        """Add the labels of a row.

        Args:
            facts: what the annotators say beside, by column of `LABEL_FACTS`.
            once: whether the same label twice is refused too.
        """
        for annotator, label in labels:
            before = self._labels.setdefault((case_id, annotator), (label, place))
            if before[0] != label or (once and before[1] != place):
                raise CaseFileError(
                    f"{place}: annotator {visible_line(annotator, 60)!r} labels case {visible_line(case_id, 120)!r} "
                    f"{visible_line(label, 60)!r} here and {visible_line(before[0], 60)!r} at {before[1]}; "
                    "keep one label"
                )
            if facts:
                self._facts[case_id, annotator] = facts

    def table(self) -> pa.Table:
        """The labels as `LABELS`, sorted by case and annotator, with the columns of `LABEL_FACTS` that have a value."""
        keys = sorted(self._labels)
        rows = [
            {"case_id": key[0], "annotator": key[1], "label": self._labels[key][0], **self._facts.get(key, {})}
            for key in keys
        ]
        said = {name for facts in self._facts.values() for name in facts}
        return pa.Table.from_pylist(rows, pa.schema([*LABELS, *(one for one in LABEL_FACTS if one.name in said)]))
