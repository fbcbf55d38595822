"""What verdict and label words of a file mean: verdicts of Jury Judge, or categories that the caller declares."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from jury_cases.errors import CaseFileError
from jury_cases.labels import NO_LABEL, directions, label_word, map_option, word_pairs
from jury_cases.transcripts.json_values import json_kind
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_events.verdict_scale import OUTCOME_WORDS, VerdictScale

Of = Literal["verdict", "label"]

_OURS = tuple(Verdict)
_OF_LABELS = "label:"
_SHOWN = 20
_MOST = 100
"""Categories that can be declared: votes are kept as small integers, and tables of pairs are square."""


class UnknownWord(CaseFileError):
    """A verdict or label that is none of the categories, and is not mapped to one."""


class VerdictWords:
    """The categories of votes and labels, and the words that stand for them.

    Args:
        categories: the declared categories, lowest first if they are ordered; None: the verdicts of Jury Judge, and
            the synonyms that case files may use.
        ordered: whether the order has a meaning.
        verdicts: categories by word of a vote; None: an abstention.
        labels: categories by word of a label; None: no label.

    Attributes:
        declared: the declared categories; None: the verdicts of Jury Judge.
        categories: the declared categories, or these verdicts.
        ordered: whether the order has a meaning.
        labels_of: the panel's scale whose labels these are; None: verdicts of Jury Judge, or declared ones.
    """

    def __init__(
        self,
        categories: Sequence[str] | None = None,
        *,
        ordered: bool = True,
        verdicts: Mapping[str, str | None] | None = None,
        labels: Mapping[str, str | None] | None = None,
    ) -> None:
        self.declared = None if categories is None else _checked(categories)
        self.categories: tuple[str, ...] = _OURS if self.declared is None else self.declared
        self.ordered = ordered
        self._mapped: dict[Of, dict[str, str | None]] = {"verdict": dict(verdicts or {}), "label": dict(labels or {})}
        for meanings in self._mapped.values():
            for word, category in meanings.items():
                self._check(word, category)
        self._known: dict[tuple[Of, str], str | None] = {}
        self.labels_of: VerdictScale | None = None

    @classmethod
    def of_labels(cls, scale: VerdictScale) -> Self:
        """The labels of a panel's scale, the best first. An outcome as a label means its only label, or none."""
        only = {
            str(verdict): named[0] if len(named) == 1 else None
            for verdict, word in OUTCOME_WORDS.items()
            if verdict not in scale.ids
            for named in [[one.id for one in scale.labels if one.outcome == word]]
        }
        words = cls(scale.ids[::-1], labels=only)
        words.labels_of = scale
        return words

    @classmethod
    def of_outcomes(cls, scale: VerdictScale) -> Self:
        """The verdicts of Jury Judge; labels of people may be those of a panel's scale, which mean their outcomes."""
        return cls(labels={one.id: str(one.verdict) for one in scale.labels})

    @classmethod
    def of_chosen(cls, scale: VerdictScale | None, count: Literal["labels", "outcomes"]) -> Self:
        """The labels of a panel's scale, or what they come to; the verdicts of Jury Judge without a scale."""
        if scale is None:
            return cls()
        return cls.of_labels(scale) if count == "labels" else cls.of_outcomes(scale)

    @property
    def mapped_labels(self) -> Mapping[str, str | None]:
        """Categories by word of a label, as they were given."""
        return self._mapped["label"]

    def meaning(self, written: Any, of: Of) -> str | None:
        """The category of an unparsed verdict or label; None for null and blank text.

        Numbers and booleans are words too; a whole number is the same word with and without decimals.
        """
        if isinstance(written, str) and (of, written) in self._known:
            return self._known[of, written]
        word = _word(written, of)
        if word is None:
            return None
        found = self._category(word, of)
        if isinstance(written, str) and len(self._known) < _MOST * _MOST:
            self._known[of, written] = found
        return found

    def _category(self, word: str, of: Of) -> str | None:
        mapped = self._mapped[of]
        if word in mapped:
            return mapped[word]
        if word in self.categories:
            return word
        if self.declared is None:
            try:
                return Verdict.from_label(word)
            except ValueError:
                pass
        shown = visible_line(word, 60)
        ways = (
            ""
            if self.declared is not None
            else ", or declare the words of the file with --order LOW,…,HIGH or --categories A,B"
        )
        means = (
            f"say what it means with {map_option('', [shown])} ({NO_LABEL} for no {'vote' if of == 'verdict' else of})"
        )
        if self.declared is None:
            means = directions(word, "") or means
        raise UnknownWord(f"{of}: {shown!r} is none of {_listed(self.categories)}; {means}{ways}")

    def _check(self, word: str, category: str | None) -> None:
        if category is not None and category not in self.categories:
            raise CaseFileError(
                f"--map {visible_line(word, 60)}={visible_line(category, 60)}: there is no such verdict"
                f"{did_you_mean(category, [*self.categories, NO_LABEL])}; "
                f"write {_listed(self.categories)} or {NO_LABEL}"
            )


def parse_words(
    mappings: Sequence[str] | Mapping[str, str | None] = (),
    *,
    order: str | Sequence[str] | None = None,
    categories: str | Sequence[str] | None = None,
) -> VerdictWords:
    """The words of the options of a command, or of the fields of a file.

    Args:
        mappings: values of `--map`: `WORD=VERDICT,…` for votes and labels alike, `label:WORD=VERDICT` for labels only;
            or a table of verdicts by word.
        order: of `--order`: categories from the lowest to the highest, parted by commas or as a list.
        categories: of `--categories`: the same without an order.
    """
    if order is not None and categories is not None:
        raise CaseFileError("--order and --categories: both declare the verdicts; keep one of them")
    declared = order if order is not None else categories
    verdicts: dict[str, str | None] = {}
    labels: dict[str, str | None] = {}
    for of_labels, word, category in _mapped_words(mappings):
        meaning = None if category == NO_LABEL else category
        for meanings in (labels,) if of_labels else (verdicts, labels):
            if word in meanings:
                raise CaseFileError(f"--map {visible_line(word)!r} is there twice; keep one of them")
            meanings[word] = meaning
    return VerdictWords(
        [one.strip() for one in declared.split(",")] if isinstance(declared, str) else declared,
        ordered=categories is None,
        verdicts=verdicts,
        labels=labels,
    )


def _mapped_words(mappings: Sequence[str] | Mapping[str, str | None]) -> Iterator[tuple[bool, str, str | None]]:
    if isinstance(mappings, Mapping):
        for word, category in mappings.items():
            yield word.startswith(_OF_LABELS), word.removeprefix(_OF_LABELS), category
        return
    for given in mappings:
        for word, category in word_pairs(given.removeprefix(_OF_LABELS)):
            yield given.startswith(_OF_LABELS), word, category


def _checked(categories: Sequence[str]) -> tuple[str, ...]:
    found = tuple(categories)
    shown = visible_line(",".join(found))
    if not 2 <= len(found) <= _MOST or not all(found):  # noqa: PLR2004  (fewer cannot differ)
        raise CaseFileError(f"--order or --categories {shown!r}: must be 2 to {_MOST} words, parted by commas")
    if len(set(found)) != len(found):
        raise CaseFileError(f"--order or --categories {shown!r}: a word is there twice; keep one of them")
    return found


def _word(written: Any, of: Of) -> str | None:
    if isinstance(written, dict | list | bytes):
        raise CaseFileError(f"{of}: must be a word, not {json_kind(written)}; name the column that has the word")
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    # Booleans are the words of tables: True and False.
    return str(written) if isinstance(written, bool) else label_word(written)


def _listed(categories: Sequence[str]) -> str:
    shown = ", ".join(visible_line(one, 60) for one in categories[:_SHOWN])
    return shown + (f" and {len(categories) - _SHOWN} more" if len(categories) > _SHOWN else "")
