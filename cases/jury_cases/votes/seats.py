"""Which columns of a table have whose votes: the parts of a vote, seats in names of columns, a column a seat."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from jury_cases.columns import AUTOMATIC, listing, value_at
from jury_cases.draft import as_label
from jury_cases.errors import CaseFileError
from jury_cases.labels import directions, label_word
from jury_cases.transcripts.json_values import json_kind
from jury_cases.votes.words import VerdictWords
from jury_events.nearest import did_you_mean
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

_SHORT = 100
_UNLIMITED = 2**31 - 1
_FLAGS = {"true": True, "false": False}


def name_of(written: Any, part: str) -> str | None:
    """An id or name as one line of at most 300 characters; None for blank text."""
    if isinstance(written, str) and written.isprintable() and 0 < len(written) <= _SHORT and " " not in written:
        return written  # as nearly all are
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, bool) or not isinstance(written, str | int):
        raise CaseFileError(f"{part}: must be text or a whole number, not {json_kind(written)}")
    return as_label(written if isinstance(written, str) else str(written)) or None


def whole_number(written: Any, part: str, least: int, most: int = _UNLIMITED) -> int:
    """A whole number from `least` to `most`."""
    number = _number(written)
    if not (number.is_integer() and least <= number <= most):
        upper = f"to {most}" if most < _UNLIMITED else "up"
        raise CaseFileError(f"{part}: must be a whole number from {least} {upper}, not {_shown(written)}")
    return int(number)


def number_within(written: Any, part: str, least: float, most: float) -> float:
    """A number from `least` to `most`."""
    number = _number(written)
    if not least <= number <= most:
        upper = "up" if math.isinf(most) else f"to {most:g}"
        remedy = "" if math.isinf(most) else f"; rescale the column, or leave it out with --field {part}="
        raise CaseFileError(f"{part}: must be a number from {least:g} {upper}, not {_shown(written)}{remedy}")
    return number


def flag_of(written: Any, part: str) -> bool:
    """True or false."""
    found = written if isinstance(written, bool) else _FLAGS.get(str(written).strip().lower())
    if found is None:
        raise CaseFileError(f"{part}: must be true or false, not {_shown(written)}")
    return found


def _number(written: Any) -> float:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return math.nan
    try:
        found = float(written)
    except (ValueError, OverflowError):
        return math.nan
    return found if math.isfinite(found) else math.nan


def _shown(written: Any) -> str:
    return visible_line(repr(written), 60) if isinstance(written, str | int | float) else json_kind(written)


OF_A_CASE: dict[str, tuple[str, ...]] = {
    "case_id": AUTOMATIC["case_id"],
    "debate_id": ("debate_id",),
    "run_id": ("run_id",),
    "cluster": AUTOMATIC["cluster"],
    "variant": ("variant",),
    "repeat": ("repeat",),
    "panel": ("panel",),
    "label": AUTOMATIC["label"],
    "label_message": ("label_message",),
    "message_count": ("message_count",),
    "outcome_correct": ("outcome_correct",),
    "round": ("round",),
}
"""What a row of votes says of its debate, with the columns that are read by default."""

OF_A_VOTE: dict[str, tuple[str, ...]] = {
    "seat": ("seat", "judge", "juror", "juror_id", "rater"),
    "verdict": ("verdict", "vote"),
    "score": ("score",),
    "confidence": ("confidence",),
    "model_asked": ("model_asked",),
    "decisive_message": ("decisive_message",),
}
"""What a row says of one vote. A row of several votes has an object of these for each."""

IN_A_SEAT = tuple(part for part in OF_A_VOTE if part not in {"seat", "verdict"})
"""The parts of a vote that are fields of the object of a seat, beside its verdict."""

OF_A_ROW_OF_SEATS: dict[str, tuple[str, ...]] = {
    **{part: columns for part, columns in OF_A_VOTE.items() if part not in IN_A_SEAT},
    "label_message": ("label_message", "decisive_message"),
}
"""What a row of several votes says itself: each vote names its message in its object, and the row that of the label."""

OF_A_BALLOT: tuple[str, ...] = (
    *("role", "kind", "weight", "changed", "model_answered", "calls", "input_tokens", "output_tokens", "cost"),
    *("simulated", "final_verdict", "final_score"),
    *("verified", "normalised", "elsewhere", "not_found", "decisive_item", "item_count", "read_percent"),
    *("before_reasoning", "before_reasoning_label", "vote_label", "final_label", "human_label"),
)
"""Further columns of the ballots table. By default they are read from exported tables of ballots only: elsewhere such
names have other meanings."""

_EXPORTED = frozenset({"debate_id", "case_id", "cluster", "repeat", "round", "role", "seat", "kind", "simulated"})
"""The columns without nulls of the ballots table: a row that has all of them is a row of such a table."""


def check_vote_fields(fields: Mapping[str, str]) -> None:
    """Check the targets of `--field`."""
    known = (*OF_A_CASE, *OF_A_VOTE, *OF_A_BALLOT)
    for target in fields:
        if target not in known:
            raise CaseFileError(
                f"--field {visible_line(target)!r}: no such part of a vote{did_you_mean(target, known)}; "
                f"the parts are {', '.join(known)}"
            )


class FieldReader:
    """Reads the parts of rows; the columns are looked up once for rows with the same columns.

    Args:
        fields: columns (dotted if nested) by part; "" leaves the part out.
    """

    def __init__(self, fields: Mapping[str, str], *, of_cases: bool = False) -> None:
        self._fields = dict(fields)
        self._defaults = {**OF_A_CASE, **(OF_A_ROW_OF_SEATS if of_cases else OF_A_VOTE)}
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def read(self, row: dict[str, Any]) -> dict[str, Any]:
        """The parts that the row has, unparsed, without nulls."""
        plan = self._plan(row)
        found = {target: value for target, column in plan if (value := row.get(column)) is not None}
        for target, source in self._fields.items():
            if source and (value := value_at(row, source, target)) is not None:
                found[target] = value
        return found

    def has(self, row: dict[str, Any], target: str) -> bool:
        """Whether the row has a column of the part, even if null."""
        return target in self._fields or any(target == known for known, _ in self._plan(row))

    def _plan(self, row: dict[str, Any]) -> "_Plan":
        columns = tuple(row)
        plan = self._plans.get(columns)
        if plan is None:
            plan = self._plans[columns] = tuple(self._columns(row))
            if len(self._plans) > _PLANS:
                self._plans = {columns: plan}
        return plan

    def _columns(self, row: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        defaults = dict(self._defaults)
        if row.keys() >= _EXPORTED:
            defaults |= {target: (target,) for target in OF_A_BALLOT}
        for target, names in defaults.items():
            if target not in self._fields:
                # From the last name to the first: of several columns with values, the first one counts.
                yield from ((target, name) for name in reversed(names) if name in row)


_Plan = tuple[tuple[str, str], ...]
_PLANS = 1000
"""Different sets of columns that are remembered: rows of JSON may have any."""


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """How the rows of a file are read as votes.

    Attributes:
        fields: columns (dotted if nested) by part of a vote; "" leaves the part out. Where a row has several votes, the
            parts of one (`score`, `decisive_message` …) are fields of its object.
        judges: patterns of the columns with the votes of one seat each, as `judges.*`; (): a row is one vote, unless it
            has a column `judges`.
        annotators: patterns of the columns with the labels of one human each, as `human.*`.
        seats: the seats that are read; (): all.
        words: what words of verdicts and labels mean.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    judges: Sequence[str] = ()
    annotators: Sequence[str] = ()
    seats: Sequence[str] = ()
    words: VerdictWords = field(default_factory=VerdictWords)

    def __post_init__(self) -> None:
        check_vote_fields(self.fields)
        if self.annotators and self.fields.get("label"):
            raise CaseFileError("--label and --annotators: both name the labels; keep one of them")


EVERY_JUDGE = "judges.*"
"""The pattern that is used if none is given and a row has such a column."""

MAX_SEATS = 256
"""Statistics compare each pair of seats."""


# A vote is a word, or an object with `verdict` and optionally the parts of `IN_A_SEAT` (`score` …). Columns may be
# nested (`{"judges": {"gpt": …}}`), or named by their paths as in tables of cells (`judges.gpt`, `judges.gpt.score`).
class SeatPattern:
    """One pattern: a path with at most one `*`, whose match is the seat; without one, the last name is the seat.

    What follows the `*` after a dot is the path of the verdict in each object: `judges.*.winner`.

    Args:
        named: fields of the objects by part of a vote, where they differ; "" leaves the part out.

    Attributes:
        missed: the parts of `named` whose field no object had so far.
    """

    def __init__(self, pattern: str, named: Mapping[str, str]) -> None:
        self.pattern = pattern
        self.missed = {part for part, name in named.items() if name}
        fields = {part: named.get(part, part) for part in IN_A_SEAT}
        self._parts = {name: part for part, name in fields.items() if name}
        names = pattern.split(".")
        starred = [number for number, name in enumerate(names) if "*" in name]
        if not all(names) or len(starred) > 1 or pattern.count("*") > 1:
            raise CaseFileError(
                f"the pattern {visible_line(pattern)!r} must be a column with at most one *, as in judges.* or "
                "judges.*.verdict"
            )
        place = starred[0] if starred else len(names) - 1
        self._within = names[:place]
        self._verdict = names[place + 1 :] or ["verdict"]
        self._is_word = not names[place + 1 :]
        before, _, after = names[place].partition("*")
        self._exact = None if starred else names[place]
        seat = f"{re.escape(before)}(?P<seat>.*?){re.escape(after)}" if starred else f"(?P<seat>{re.escape(before)})"
        self._key = re.compile(seat, re.DOTALL)
        prefix = "".join(re.escape(name) + r"\." for name in self._within)
        parts = "|".join(map(re.escape, ("verdict", *self._parts)))
        path = re.escape(".".join(self._verdict))
        ending = rf"(?:\.(?P<part>{parts}))?" if self._is_word else rf"\.(?P<part>{path}|{parts})"
        self._column = re.compile(prefix + seat + ending, re.DOTALL)

    def votes(self, row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The seats of a row, each with the parts of its vote that are not null."""
        holder = self._holder(row)
        if isinstance(holder, dict):
            for key, value in holder.items():
                if (found := self._key.fullmatch(key)) is not None:
                    seat = found.group("seat")
                    yield seat, self._vote(value, seat)
        if self._within or not isinstance(holder, dict):
            yield from self._flat_votes(row)

    def is_in(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has a column that the pattern names."""
        return isinstance(self._holder(row), dict) or any(self._column.fullmatch(column) for column in row)

    def _holder(self, row: Mapping[str, Any]) -> Any:
        value: Any = row
        for name in self._within:
            value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, str) and value.lstrip().startswith("{"):
                value = _decoded(value, self.pattern)
        return value

    def _vote(self, value: Any, seat: str) -> dict[str, Any]:
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _decoded(value, seat)
        if value is None:
            return {}
        if isinstance(value, dict):
            return self._of_object(value, seat)
        if isinstance(value, list | bytes) or not self._is_word:
            what = "a word, or an object with a verdict" if self._is_word else f"an object with {self._path}"
            raise CaseFileError(f"{visible_line(seat, 60)}: a vote must be {what}, not {json_kind(value)}")
        return {"verdict": value}

    def _of_object(self, value: dict[str, Any], seat: str) -> dict[str, Any]:
        word: Any = value
        for name in self._verdict:
            if not isinstance(word, dict) or name not in word:
                raise CaseFileError(
                    f"{visible_line(seat, 60)}: the vote has no {self._path!r}; it has {listing(value)}; name the "
                    f"verdict in the pattern, as in {'.'.join([*self._within, '*', 'NAME'])}"
                )
            word = word[name]
        found = {}
        for name, part in self._parts.items():
            if name in value:
                self.missed.discard(part)
                if value[name] is not None:
                    found[part] = value[name]
        return found if word is None else {"verdict": word, **found}

    @property
    def _path(self) -> str:
        return ".".join(self._verdict)

    def _flat_votes(self, row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        votes: dict[str, dict[str, Any]] = {}
        path = self._path
        for column, value in row.items():
            if (found := self._column.fullmatch(column)) is None:
                continue
            seat, part = found.group("seat"), found.group("part")
            if part is None and (isinstance(value, dict) or (isinstance(value, str) and value.startswith("{"))):
                votes.setdefault(seat, {}).update(self._vote(value, seat))
                continue
            vote = votes.setdefault(seat, {})
            of_vote = "verdict" if part is None or part == path else self._parts.get(part, part)
            self.missed.discard(of_vote)
            if value is not None:
                vote[of_vote] = value
        yield from votes.items()


class SeatVote(NamedTuple):
    """A seat of a row, with the parts of its vote that are not null."""

    seat: str
    parts: dict[str, Any]


class SeatColumns:
    """The votes of a row under several patterns.

    Args:
        patterns: as of `SeatPattern`.
        seats: the seats that are read; None: all.
        named: as of `SeatPattern`.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        seats: frozenset[str] | None = None,
        named: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._patterns = [SeatPattern(pattern, named) for pattern in patterns]
        self._chosen = seats
        self.seen: set[str] = set()

    def votes(self, row: Mapping[str, Any]) -> list[SeatVote]:
        found: dict[str, dict[str, Any]] = {}
        for pattern in self._patterns:
            for key, parts in pattern.votes(row):
                if (seat := name_of(key, "seat")) is None:
                    raise CaseFileError(f"a column of {visible_line(pattern.pattern, 60)} has no name for its seat")
                if seat in found:
                    raise CaseFileError(f"{visible_line(seat, 60)!r} has two columns in this row; keep one of them")
                found[seat] = parts
        self.seen |= found.keys()
        if len(self.seen) > MAX_SEATS:
            raise too_many_seats("a narrower pattern")
        return [SeatVote(*one) for one in found.items() if self._chosen is None or one[0] in self._chosen]

    @property
    def missed(self) -> list[str]:
        """The parts that were named, and that no vote of any pattern had so far; sorted."""
        return sorted(set.intersection(*(pattern.missed for pattern in self._patterns)))

    def is_in(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has a column that one of the patterns names."""
        return any(pattern.is_in(row) for pattern in self._patterns)


def too_many_seats(remedy: str) -> CaseFileError:
    """The error for more than `MAX_SEATS` seats."""
    return CaseFileError(f"more than {MAX_SEATS} seats; name {remedy}, or the seats with --seats A,B")


def _decoded(text: str, place: str) -> Any:
    try:
        return decode_text(text)
    except JsonRefused as error:
        raise CaseFileError(f"{visible_line(place, 60)}: the text is not JSON ({error})") from error


_PARTS = frozenset({*OF_A_BALLOT, *(name for names in (*OF_A_CASE.values(), *OF_A_VOTE.values()) for name in names)})
_TRUTH = frozenset({"human", "humans", "gold", "golden", "truth", "true", "target", "reference", "expected", "correct"})
"""Words of a column that may be the label: it is taken for none, and for no judge."""


class WideTable:
    """The judges of a plain wide table, by its first row.

    Attributes:
        judges: the columns whose values are verdict words; (): it is no such table.
    """

    def __init__(self, row: Mapping[str, Any], words: VerdictWords) -> None:
        self._words = words
        free = [name for name in row if name not in _PARTS and not name.startswith("metadata")]
        self.judges = tuple(name for name in free if self._votes(row[name]))
        self._others = frozenset(free).difference(self.judges)
        for name in () if self.judges else free:
            value = row[name]
            word = str(value) if isinstance(value, bool) else label_word(value)
            means = None if isinstance(value, dict | list | bytes) else directions(word or "", "")
            if means is not None:
                raise CaseFileError(f"{visible_line(name, 60)}: {value!r} is no verdict; {means}")
        for name in self.judges:
            if not _TRUTH.isdisjoint(re.split(r"[^a-z]+", name.lower())):
                shown = visible_line(name, 60)
                raise CaseFileError(
                    f"{shown}: may be the label, or a judge: name it with --label {shown}, and the judges with "
                    f"--judges {visible_line(next((one for one in self.judges if one != name), 'COLUMN'), 60)} …"
                )

    def check(self, row: Mapping[str, Any]) -> None:
        """Refuse a further row in which another column has a verdict word too."""
        for name in self._others & row.keys():
            if self._votes(row[name]):
                named = " ".join(f"--judges {visible_line(one, 60)}" for one in (*self.judges, name))
                raise CaseFileError(
                    f"{visible_line(name, 60)}: has a verdict here and none in the first row; name the columns of the "
                    f"judges: {named}"
                )

    def _votes(self, value: Any) -> bool:
        if value is None or isinstance(value, dict | list | bytes):
            return False
        try:
            return self._words.meaning(value, "verdict") is not None
        except CaseFileError:
            return False
