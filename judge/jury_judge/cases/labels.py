"""Human labels as files write them, read as verdicts: our own words, or those that `--map label:WORD=VERDICT` names."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from jury_events.nearest import did_you_mean
from jury_events.verdict import Verdict
from jury_judge.errors import CaseFileError
from jury_judge.text.visible_text import visible_line

NO_LABEL = "none"
"""What `--map` writes for a word that means that there is no label."""

_SHOWN = 20


class UnknownLabel(CaseFileError):
    """A label is no verdict, and nothing says what it means; `word` is it."""

    def __init__(self, message: str, word: str) -> None:
        super().__init__(message)
        self.word = word


class Labels:
    """What words mean.

    Args:
        words: verdicts by word as the file writes it; None: no label.
        refuse: whether a word that is not understood is refused; else it is no label.
    """

    def __init__(self, words: Mapping[str, Verdict | None] | None = None, *, refuse: bool = True) -> None:
        self._words = dict(words or {})
        self._refuse = refuse

    def lenient(self) -> "Labels":
        """The same, but words that are not understood are no label."""
        return Labels(self._words, refuse=False)

    @property
    def mapped(self) -> tuple[str, ...]:
        """The words that were given a meaning."""
        return tuple(self._words)

    def meaning(self, word: str) -> Verdict | None:
        """The verdict of a word; None where it means that there is no label.

        Raises:
            ValueError: it is not understood.
        """
        return self._words[word] if word in self._words else Verdict.from_label(word)

    def verdict(self, written: Any) -> Verdict | None:
        """The verdict of a label; null and blank text are none.

        Raises:
            UnknownLabel: it is not understood.
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
    """A label as a word: text without space around it, numbers and booleans as JSON; None for null and blank."""
    if written is None:
        return None
    if isinstance(written, bool):
        return str(written)
    word = written.strip() if isinstance(written, str) else json.dumps(written, ensure_ascii=False, default=str)
    return word or None


def parse_map(given: tuple[str, ...]) -> Labels:
    """`label:fail=unsafe_fail,False=safe_pass`: pairs after the part of a case that they are for.

    Raises:
        CaseFileError: it is not of that form, or names no verdict.
    """
    words: dict[str, Verdict | None] = {}
    for one in given:
        part, colon, pairs = one.partition(":")
        if part != "label" or not colon or not pairs:
            hint = did_you_mean(part, ["label"]) if part != "label" and pairs else ""
            raise CaseFileError(
                f"--map {visible_line(one)!r}: must be label:WORD=VERDICT{hint}, more of them after commas"
            )
        for pair in pairs.split(","):
            word, equals, verdict = pair.rpartition("=")
            if not equals or not word.strip():
                raise CaseFileError(f"--map {visible_line(pair)!r}: must be WORD=VERDICT")
            if word.strip() in words:
                raise CaseFileError(f"--map {visible_line(word)!r} is there twice; keep one of them")
            words[word.strip()] = _verdict(verdict.strip())
    return Labels(words)


def labels_of(words: Mapping[str, str | None]) -> Labels:
    """Verdicts by word; None is no label.

    Raises:
        CaseFileError: a verdict is none.
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
    """Words and how often each was seen, the most frequent first, for a message."""
    shown = [f"{visible_line(word, 60)!r} {count}" for word, count in words.most_common(_SHOWN)]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(shown) + more
