"""Which columns of a row have the votes of several seats: patterns such as `judges.*`.

A vote is a word, or an object with `verdict` and optionally the parts of `IN_A_SEAT` (`score` …). Columns may be
nested (`{"judges": {"gpt": …}}`), or named by their paths as in tables of cells (`judges.gpt`, `judges.gpt.score`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from jury_cases.columns import listing
from jury_cases.errors import CaseFileError
from jury_cases.transcripts.json_values import json_kind
from jury_cases.votes.fields import IN_A_SEAT
from jury_cases.votes.values import name_of
from jury_events.text.strict_json import JsonRefused, decode_text
from jury_events.text.visible_text import visible_line

EVERY_JUDGE = "judges.*"
"""The pattern that is used if none is given and a row has such a column."""

MAX_SEATS = 256
"""Statistics compare each pair of seats."""


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
