"""A scale: the verdict words of a panel (labels), from worst to best, each with an outcome and a meaning.

A panel without a scale of its own judges in the three verdicts: their scale is `agent-safety` (`bundled_scales`).

Laws: labels are ordered, and so are their outcomes: no label has a milder outcome than a better one. The rank of a
label counts from 0, the worst.
"""

from hashlib import sha256
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    StringConstraints,
    model_validator,
)

from jury_events.canonical import canonical_json
from jury_events.outcome import DebateStatus
from jury_events.text import is_blank
from jury_events.value import Label, Value, one_line
from jury_events.verdict import FAIL, PASS, REVIEW, Verdict

OTHER_WORDS = frozenset(
    {
        *(verdict.value for verdict in Verdict),
        *("own", "stale", "synthetic", "conditional", "standing", "abstain", "abstained", "not_asked"),
        *get_args(DebateStatus),
        *("unfinished", "erased", "quarantined", "none", "undecided", "no_verdict"),
    }
)
"""Words for verdicts, votes and debates, and for the lack of them: no label of an own scale is one of them."""

FEWEST_LABELS, MOST_LABELS = 2, 20
LONGEST_MEANING = 500

OutcomeWord = Literal["fail", "review", "pass"]
"""What a label comes to for gates, exits and reviews."""

VERDICTS: dict[OutcomeWord, Verdict] = {
    "fail": FAIL,
    "review": REVIEW,
    "pass": PASS,
}
"""From worst to best."""

OUTCOME_WORDS: dict[Verdict, OutcomeWord] = {verdict: word for word, verdict in VERDICTS.items()}

LabelId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
"""A verdict word: 1 to 40 of a-z, 0-9, _ and -; the first is a letter or a digit."""


def _says_something(text: str) -> str:
    if is_blank(text):
        raise ValueError("says nothing; write what it means")
    return one_line(text)


Meaning = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_MEANING), AfterValidator(_says_something)]
"""One line that an operator writes for jurors: not blank, at most 500 characters."""


class ScaleLabel(Value):
    """One verdict word of a scale."""

    id: LabelId
    outcome: OutcomeWord
    meaning: Meaning

    @property
    def verdict(self) -> Verdict:
        """Its outcome as one of the three verdicts."""
        return VERDICTS[self.outcome]


_id, _word = attrgetter("id"), attrgetter("id", "outcome")
_THREE_VERDICTS = {(verdict.value, word) for word, verdict in VERDICTS.items()}
"""The scale whose labels may be the words that lists, filters and statistics have for verdicts."""


class VerdictScale(Value):
    """The labels of a panel. `in_doubt`: the label to choose in doubt; None: none is named.

    The name is for people: scales are compared by what jurors are shown of them, and by the outcomes (`digest`).
    """

    name: Label
    labels: tuple[ScaleLabel, ...]
    in_doubt: LabelId | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        ids, count = self.ids, len(self.labels)
        if not FEWEST_LABELS <= count <= MOST_LABELS:
            raise ValueError(f"labels: a scale has {FEWEST_LABELS} to {MOST_LABELS} labels, not {count}")
        if len(set(ids)) != count:
            doubled = next(label for place, label in enumerate(ids) if label in ids[:place])
            raise ValueError(f"labels: {doubled} is there twice; every label needs an id of its own")
        taken = OTHER_WORDS.intersection(ids)
        if taken and set(map(_word, self.labels)) != _THREE_VERDICTS:
            raise ValueError(
                f"labels: {min(taken, key=ids.index)} is the word of a verdict or of a state, which stands beside "
                "labels in lists, filters and statistics; choose another word"
            )
        for worse, better in pairwise(self.labels):
            if _OUTCOME_RANKS[better.outcome] < _OUTCOME_RANKS[worse.outcome]:
                raise ValueError(
                    f"labels: from worst to best, {better.id} follows {worse.id}, but its outcome {better.outcome} is "
                    f"worse than {worse.outcome}; order the labels, or change an outcome"
                )
        if self.in_doubt is not None and self.in_doubt not in ids:
            raise ValueError(f"in_doubt: {self.in_doubt} is none of the labels {', '.join(ids)}")
        return self

    def __hash__(self) -> int:
        """Of the ids only: scales are keys of caches."""
        return hash(self.ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The verdict words, from worst to best."""
        return tuple(map(_id, self.labels))

    def label(self, label_id: str) -> ScaleLabel:
        """The label of an id; KeyError when there is none."""
        return self.labels[self.rank(label_id)]

    def rank(self, label_id: str) -> int:
        """The place of a label, 0 for the worst; KeyError when there is none."""
        for place, label in enumerate(self.labels):
            if label.id == label_id:
                return place
        raise KeyError(label_id)

    def verdict(self, label_id: str) -> Verdict:
        """The outcome of a label as one of the three verdicts; KeyError when there is none."""
        return self.label(label_id).verdict

    @property
    def best_rank(self) -> int:
        """The rank of the best label."""
        return len(self.labels) - 1

    @property
    def has_levels(self) -> bool:
        """Whether the labels are whole numbers in a row, as 1 to 5: their means say something by themselves."""
        numbers = [int(label) for label in self.ids if label.isdecimal()]
        return len(numbers) == len(self.ids) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    @property
    def digest(self) -> str:
        """64 hexadecimal digits of labels, outcomes and meanings: figures under different ones are not comparable."""
        return sha256(canonical_json(self.model_dump(mode="json", exclude={"name"}))).hexdigest()


_OUTCOME_RANKS: dict[str, int] = {word: rank for rank, word in enumerate(VERDICTS)}
