"""Maps human labels to verdicts: known words, labels of the panel's scale, or words of `--map label:WORD=VERDICT`."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from shlex import quote
from typing import Any

from jury_cases.errors import CaseFileError
from jury_events.evaluation import SeatPosition
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.verdict import FAIL, PASS, Verdict
from jury_events.verdict_scale import VerdictScale

NO_LABEL = "none"
"""The verdict in `--map` for a word that means "no label"."""

_BOOLEANS = frozenset({"true", "false"})
_OF_TWO_DIRECTIONS = {
    one: pair for pair in (("1", "0"), ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f")) for one in pair
}
"""Words that say yes or no to a question that nothing names: was it right, or was there a violation?"""
_SHOWN = 20


class UnknownLabel(CaseFileError):
    """A label that is not mapped to a verdict; `word` is the label."""

    def __init__(self, message: str, word: str) -> None:
        super().__init__(message)
        self.word = word


@dataclass(frozen=True)
class Labels:
    """What label words mean: verdicts, and labels of the scale in which the cases are judged.

    Attributes:
        words: their meanings by word as in the file; None: no label.
        refuse: whether unknown words are refused; otherwise they count as no label.
        scale: of the panel, whose labels are understood as they are; None: its verdicts are those of the documents.
        mappable: whether who gives the cases can say with `--map` what a word means, as a message then advises.
    """

    words: Mapping[str, SeatPosition | None] = field(default_factory=dict)
    _: KW_ONLY
    refuse: bool = True
    scale: VerdictScale | None = None
    mappable: bool = True

    def lenient(self) -> "Labels":
        """The same, with unknown words as no label."""
        return replace(self, refuse=False)

    @property
    def mapped(self) -> tuple[str, ...]:
        """The explicitly mapped words."""
        return tuple(self.words)

    def meaning(self, word: str) -> SeatPosition | None:
        """The verdict of a word, with the label of the scale where it means one; None: it means "no label"."""
        if word in self.words:
            return self.words[word]
        if word.lower() in _BOOLEANS:  # as JSON writes them, and as pandas does
            for mapped, meant in self.words.items():
                if mapped.lower() == word.lower():
                    return meant
        return _of_scale(word.lower(), self.scale) or SeatPosition(Verdict.from_label(word))

    def position(self, written: Any, *, refuse: bool = True) -> SeatPosition | None:
        """The verdict of an unparsed label, with the label of the scale where it is one; None: null or blank text.

        Without `refuse` an unknown word is no label either.
        """
        word = label_word(written)
        if word is None:
            return None
        try:
            return self.meaning(word)
        except ValueError as error:
            if not (refuse and self.refuse):
                return None
            shown = visible_line(word, 60)
            known = ", ".join(dict.fromkeys([*(() if self.scale is None else self.scale.ids), *Verdict]))
            remedy = (
                (None if self.scale is not None else directions(word, "label:"))
                or f"say what it means with {map_option('label:', [shown])} ({known}, or {NO_LABEL})"
                if self.mappable
                else f"write one of {known}, or leave label out"
            )
            raise UnknownLabel(f"label: {shown!r} is not understood; {remedy}", word) from error


def directions(word: str, of: str) -> str | None:
    """What to say of a word that may mean either direction, as 1 and 0 do; None of any other word.

    Args:
        of: what stands before the word in `--map`: `label:` of labels alone.
    """
    pair = _OF_TWO_DIRECTIONS.get(word.lower())
    if pair is None:
        return None
    yes, no = (one.title() if word.istitle() else one.upper() if word.isupper() else one for one in pair)
    return (
        f"say in which direction: --map {of}{yes}={PASS},{no}={FAIL} where {yes} means that the agent did right, "
        f"--map {of}{yes}={FAIL},{no}={PASS} where {yes} means that it did wrong"
    )


def map_option(of: str, words: Iterable[str]) -> str:
    """`--map` for words, with VERDICT in the place of their meanings, as a shell reads it; `of` as for `directions`."""
    return f"--map {quote(of + ','.join(f'{_in_pairs(word)}=VERDICT' for word in words))}"


def _in_pairs(word: str) -> str:
    """A word as `word_pairs` reads it."""
    return '"{}"'.format(word.replace('"', '""')) if {",", '"'} & set(word) else word


def _of_scale(word: str, scale: VerdictScale | None) -> SeatPosition | None:
    return SeatPosition(scale.verdict(word), word) if scale is not None and word in scale.ids else None


def label_word(written: Any) -> str | None:
    """A label as a word: stripped text, numbers and booleans as JSON; None for null and blank text."""
    if written is None:
        return None
    if isinstance(written, float) and written.is_integer():
        written = int(written)  # as tables keep whole numbers in a column that has gaps
    word = written.strip() if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
    return word or None


def parse_map(given: tuple[str, ...], scale: VerdictScale | None = None) -> Labels:
    """Parse values of `--map`: `label:WORD=VERDICT`, more pairs after commas."""
    words: dict[str, SeatPosition | None] = {}
    for one in given:
        part, colon, pairs = one.partition(":")
        if part != "label" or not colon or not pairs:
            hint = did_you_mean(part, ["label"]) if part != "label" and pairs else ""
            raise CaseFileError(
                f"--map {visible_line(one)!r}: must be label:WORD=VERDICT{hint}, more of them after commas"
            )
        for word, verdict in word_pairs(pairs):
            if word in words:
                raise CaseFileError(f"--map {visible_line(word)!r} is there twice; keep one of them")
            words[word] = _position(verdict, scale)
    return Labels(words, scale=scale)


def word_pairs(pairs: str) -> Iterator[tuple[str, str]]:
    """The pairs of `WORD=VERDICT,WORD=VERDICT`; a word with a comma stands in quotation marks, as in CSV."""
    try:
        listed = next(csv.reader([pairs], skipinitialspace=True), [])
    except csv.Error as error:
        raise CaseFileError(f"--map {visible_line(pairs)!r}: must be WORD=VERDICT, on one line") from error
    for pair in listed:
        word, equals, verdict = pair.rpartition("=")
        if not equals or not word.strip():
            raise CaseFileError(f"--map {visible_line(pair)!r}: must be WORD=VERDICT")
        yield word.strip(), verdict.strip()


def labels_of(words: Mapping[str, str | None]) -> Labels:
    """`Labels` from verdicts by word; None: no label."""
    return Labels({str(word): None if verdict is None else _position(verdict, None) for word, verdict in words.items()})


def _position(word: str, scale: VerdictScale | None) -> SeatPosition | None:
    if word == NO_LABEL:
        return None
    if (found := _of_scale(word, scale)) is not None:
        return found
    try:
        return SeatPosition(Verdict(word))
    except ValueError as error:
        known = [*(() if scale is None else scale.ids), *Verdict]
        raise CaseFileError(
            f"labels: {visible_line(word)!r} is not a verdict{did_you_mean(word, [*known, NO_LABEL])}; "
            f"write {', '.join(dict.fromkeys(known))} or {NO_LABEL}"
        ) from error


def seen(words: Counter[str]) -> str:
    """Words with their counts, most frequent first, for a message."""
    shown = [f"{visible_line(word, 60)!r} {count}" for word, count in words.most_common(_SHOWN)]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(shown) + more
