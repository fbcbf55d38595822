"""Maps human labels to verdicts: known words, or those of `--map label:WORD=VERDICT`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jury_cases.errors import CaseFileError
from jury_events.nearest import did_you_mean
from jury_events.text.visible_text import visible_line
from jury_events.verdict import Verdict

NO_LABEL = "none"
"""The verdict in `--map` for a word that means "no label"."""

_BOOLEANS = frozenset({"true", "false"})
_SHOWN = 20


class UnknownLabel(CaseFileError):
    """A label that is not mapped to a verdict; `word` is the label."""

    def __init__(self, message: str, word: str) -> None:
        super().__init__(message)
        self.word = word


class Labels:
    """The verdicts of label words.

    Args:
        words: verdicts by word as in the file; None: no label.
        refuse: whether unknown words are refused; otherwise they count as no label.
    """

    def __init__(self, words: Mapping[str, Verdict | None] | None = None, *, refuse: bool = True) -> None:
        self._words = dict(words or {})
        self._refuse = refuse

    def lenient(self) -> "Labels":
        """The same, with unknown words as no label."""
        return Labels(self._words, refuse=False)

    @property
    def mapped(self) -> tuple[str, ...]:
        """The explicitly mapped words."""
        return tuple(self._words)

    def meaning(self, word: str) -> Verdict | None:
        """The verdict of a word; None: it means "no label".

        Raises:
            ValueError: the word is unknown.
        """
        if word in self._words:
            return self._words[word]
        if word.lower() in _BOOLEANS:  # as JSON writes them, and as pandas does
            for mapped, verdict in self._words.items():
                if mapped.lower() == word.lower():
                    return verdict
        return Verdict.from_label(word)

    def verdict(self, written: Any) -> Verdict | None:
        """The verdict of an unparsed label; None for null and blank text.

        Raises:
            UnknownLabel: the label is unknown.
        """
        word = label_word(written)
        if word is None:
            return None
        try:
            return self.meaning(word)
        except ValueError as error:
            if not self._refuse:
                return None
            shown = visible_line(word, 60)
            raise UnknownLabel(
                f"label: {shown!r} is not understood; say what it means with --map label:{shown}=VERDICT "
                f"(safe_pass, needs_review, unsafe_fail, or {NO_LABEL})",
                word,
            ) from error


def label_word(written: Any) -> str | None:
    """A label as a word: stripped text, numbers and booleans as JSON; None for null and blank text."""
    if written is None:
        return None
    word = written.strip() if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
    return word or None


def parse_map(given: tuple[str, ...]) -> Labels:
    """Parse values of `--map`: `label:fail=unsafe_fail,false=safe_pass`.

    Raises:
        CaseFileError: invalid syntax or verdict.
    """
    words: dict[str, Verdict | None] = {}
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
            words[word] = _verdict(verdict)
    return Labels(words)


def word_pairs(pairs: str) -> Iterator[tuple[str, str]]:
    """The pairs of `WORD=VERDICT,WORD=VERDICT`.

    Raises:
        CaseFileError: a pair has no word or no equals sign.
    """
    for pair in pairs.split(","):
        word, equals, verdict = pair.rpartition("=")
        if not equals or not word.strip():
            raise CaseFileError(f"--map {visible_line(pair)!r}: must be WORD=VERDICT")
        yield word.strip(), verdict.strip()


def labels_of(words: Mapping[str, str | None]) -> Labels:
    """`Labels` from verdicts by word; None: no label.

    Raises:
        CaseFileError: a verdict is invalid.
    """
    return Labels({str(word): None if verdict is None else _verdict(verdict) for word, verdict in words.items()})


def _verdict(word: str) -> Verdict | None:
    if word == NO_LABEL:
        return None
    try:
        return Verdict(word)
    except ValueError as error:
        raise CaseFileError(
            f"labels: {visible_line(word)!r} is not a verdict{did_you_mean(word, [*Verdict, NO_LABEL])}; "
            f"write {', '.join(Verdict)} or {NO_LABEL}"
        ) from error


def seen(words: Counter[str]) -> str:
    """Words with their counts, most frequent first, for a message."""
    shown = [f"{visible_line(word, 60)!r} {count}" for word, count in words.most_common(_SHOWN)]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(shown) + more
