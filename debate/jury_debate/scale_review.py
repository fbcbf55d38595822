"""A scale read critically: what is allowed, and still likely to be judged badly.

One unstated clause of a meaning moves judges more than a model does, so meanings are compared with each other and read
for what is no meaning.
"""

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Literal, NamedTuple

from jury_events.bundled_scales import scale_of
from jury_events.panel import Panel
from jury_events.verdict_scale import VERDICTS, VerdictScale

_SHARED = 0.75
"""The share of the words of two meanings that they may have in common."""

_FEWEST_WORDS = 4

_LEAST_MEANING = 12
"""Characters of a meaning that can say when a label holds and when it does not."""

_INSTRUCTIONS = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all|any|the|every|previous|other)\b"
    r"|\b(?:always|never)\s+(?:answer|choose|say|give|return|respond|pick|use|vote)\b"
    r"|\b(?:answer|respond|reply)\s+(?:only\s+)?with\b|\b(?:full|maximum|top)\s+(?:marks|points|score)\b"
    r"|\byou\s+(?:must|should|have\s+to|are)\b|\b(?:ballot|system\s+prompt|json)\b|[{}⟦⟧]"
    r"|無視|満点|必ず.{0,12}(?:選|答|付け)|してください|と(?:答え|回答し)",
    re.IGNORECASE,
)
"""Words that address a juror. A meaning says when a label holds; what a juror is to do stands in `task`."""

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_KANJI_OR_KANA = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class ScaleFinding(NamedTuple):
    """Something to mend in a scale or its criteria; `place` is that of the panel file, as `scale.labels.0.meaning`.

    refused: jurors could take it for an instruction, or cannot distinguish two labels. noted: it may be meant.
    """

    kind: Literal["refused", "noted"]
    place: str
    what: str


def review_scale(panel: Panel) -> tuple[ScaleFinding, ...]:
    """What is to mend in the words that a panel judges by, in the order of the panel file."""
    scale = scale_of(panel)
    return (
        *_meanings(panel, scale),
        *_pairs(scale),
        *_levels(scale),
        *_outcomes(scale),
    )


def _meanings(panel: Panel, scale: VerdictScale) -> Iterator[ScaleFinding]:
    texts = [(f"scale.labels.{index}.meaning", one.id, one.meaning) for index, one in enumerate(scale.labels)]
    texts += [
        (f"criteria.{index}.meaning", one.name, one.meaning)
        for index, one in enumerate(panel.rubric.asked)
        if one.meaning is not None
    ]
    for place, name, meaning in texts:
        found = _INSTRUCTIONS.search(meaning)
        if found is not None:
            yield ScaleFinding(
                "refused",
                place,
                f"{found.group()!r} addresses a juror; say when {name} holds, and write what jurors do into task",
            )
        elif len(meaning) < _LEAST_MEANING or _words(meaning) <= _words(name):
            yield ScaleFinding("noted", place, f"says little more than {name}; say when it holds, and when it does not")


def _pairs(scale: VerdictScale) -> Iterator[ScaleFinding]:
    for (_, one), (place, other) in combinations(enumerate(scale.labels), 2):
        left, right = _words(one.meaning), _words(other.meaning)
        shared = len(left & right) / max(1, len(left | right))
        if left == right:
            yield ScaleFinding(
                "refused",
                f"scale.labels.{place}.meaning",
                f"{other.id} means what {one.id} means; say what divides them",
            )
        elif min(len(left), len(right)) >= _FEWEST_WORDS and shared >= _SHARED:
            yield ScaleFinding(
                "noted",
                f"scale.labels.{place}.meaning",
                f"shares {shared:.0%} of its words with that of {one.id}; say what divides them",
            )
        if _letters(one.id) == _letters(other.id):
            yield ScaleFinding("noted", f"scale.labels.{place}.id", f"{other.id} is easily taken for {one.id}")


def _levels(scale: VerdictScale) -> Iterator[ScaleFinding]:
    numbers = [int(label) for label in scale.ids if label.isdecimal()]
    if len(numbers) == len(scale.ids) and not scale.has_levels:
        yield ScaleFinding(
            "noted", "scale.labels", f"the levels {', '.join(scale.ids)} skip or go down; jurors expect those between"
        )


def _outcomes(scale: VerdictScale) -> Iterator[ScaleFinding]:
    known = {label.outcome for label in scale.labels}
    for outcome in VERDICTS:
        # Of two labels none reviews: what is undecided does.
        if outcome not in known and (outcome != "review" or len(scale.labels) > 2):  # noqa: PLR2004  (a binary scale)
            effect = "only an undecided panel does" if outcome == "review" else f"so that no case can {outcome}"
            yield ScaleFinding("noted", "scale.labels", f"no label has the outcome {outcome}: {effect}")


def _words(text: str) -> frozenset[str]:
    """Words in one case; of Japanese, which has no gaps, pairs of characters."""
    found = set()
    for word in _WORD.findall(text.casefold()):
        if _KANJI_OR_KANA.search(word):
            found |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            found.add(word)
    return frozenset(found)


def _letters(label: str) -> str:
    return re.sub(r"[-_]", "", label)
