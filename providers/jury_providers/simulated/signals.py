"""The vocabulary of simulated jurors: phrases by signal, and each finding's weight by role."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAPS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "'"}
_TABLE = {**_GAPS, ord("'"): None, ord("’"): None, **dict.fromkeys(map(ord, "　、。「」『』（）：“”…"), " ")}


class Vocabulary(NamedTuple):
    """`phrases` by signal, for search in folded text; `weights` by finding, then by role.

    `common` are words that are not specific to a clause's topic. `criteria` are the rubric dimensions that a finding is
    about, the nearest first.
    """

    phrases: dict[str, tuple[str, ...]]
    weights: dict[str, dict[str, float]]
    common: frozenset[str]
    criteria: dict[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, cached."""
    data = tomllib.loads(files(__package__).joinpath("signals.toml").read_text(encoding="utf-8"))
    phrases = {
        signal: tuple(f" {phrase}" if phrase.isascii() else phrase for phrase in listed)
        for signal, listed in data["words"].items()
    }
    criteria = {name: tuple(listed) for name, listed in data["criteria"].items()}
    return Vocabulary(phrases, data["weights"], frozenset(data["common"]), criteria)


class FoundLine(NamedTuple):
    """A line, the phrase for which it was found ("": for none), and the number of its item, None where not known."""

    line: str
    phrase: str
    item: int | None


class SpeakerLines:
    """The lines of one kind of speaker, in order, and their folded text for searching phrases.

    Args:
        lines: verbatim.
        items: the number of each line's item, None where it is not known; () where none is.
    """

    def __init__(self, lines: Iterable[str], items: Iterable[int | None] = ()) -> None:
        self.lines = tuple(lines)
        self._items = tuple(items) or (None,) * len(self.lines)
        self.folded = fold("\n".join(self.lines))

    def __bool__(self) -> bool:
        return bool(self.lines)

    def has(self, signal: str) -> bool:
        """Whether any phrase of the signal occurs."""
        folded = self.folded
        return any(phrase in folded for phrase in vocabulary().phrases[signal])

    def phrases_of(self, signal: str) -> list[str]:
        """The phrases of the signal that occur."""
        return [phrase for phrase in vocabulary().phrases[signal] if phrase in self.folded]

    def first(self, signal: str) -> FoundLine | None:
        """The line of the first phrase, in the vocabulary's order, that occurs."""
        for phrase in vocabulary().phrases[signal]:
            at = self.folded.find(phrase)
            if at >= 0:
                return self.at(self.folded.count("\n", 0, at), phrase.strip())
        return None

    def at(self, place: int, phrase: str = "") -> FoundLine:
        """The line of a number."""
        return FoundLine(self.lines[place], phrase, self._items[place])

    def last_item(self) -> int:
        """The number of the line with which the last item begins."""
        return self._items.index(self._items[-1]) if self._items else 0

    def after(self, place: int) -> "SpeakerLines":
        """The lines from the one of this number on."""
        return SpeakerLines(self.lines[place:], self._items[place:])

    def places(self, signal: str) -> list[int]:
        """The numbers of the lines with a phrase of the signal, at most 20 per phrase."""
        found: dict[int, None] = {}
        for phrase in vocabulary().phrases[signal]:
            at, seen = self.folded.find(phrase), 0
            while at >= 0 and seen < 20:  # noqa: PLR2004  (enough to read; a hostile text repeats one a million times)
                found[self.folded.count("\n", 0, at)] = None
                end = self.folded.find("\n", at)
                at, seen = self.folded.find(phrase, end) if end >= 0 else -1, seen + 1
        return sorted(found)


def fold(text: str) -> str:
    """Lower case, punctuation as single spaces, camel case split; line by line, each with a leading space."""
    table = _TABLE | {10: "\n"}
    folded = _HUMP.sub(" ", text).lower().translate(table)
    return "\n".join(f" {' '.join(line.split())} " for line in folded.split("\n"))
