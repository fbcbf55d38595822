"""What a reviewer can say of a debate: the labels of its panel's scale with their meanings, or the three verdicts."""

from typing import NamedTuple

from jury_events.verdict import FAIL, PASS, REVIEW, Verdict
from jury_events.verdict_scale import MOST_LABELS, VerdictScale

_VERDICT_KEYS = {PASS: "p", REVIEW: "n", FAIL: "f"}
_DIGITS = "123456789"
# Without the keys that do something else in the terminal or on the page.
_KEYS = (_DIGITS + "abceghilmtu")[:MOST_LABELS]


class ReviewChoice(NamedTuple):
    """One of them. `verdict` is the outcome of the label; label and meaning are None under the three verdicts."""

    key: str
    verdict: Verdict
    label: str | None = None
    meaning: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict.value


def review_choices(scale: VerdictScale | None) -> tuple[ReviewChoice, ...]:
    """The choices, the best first. The key of a level below ten is its number, of other labels their place."""
    if scale is None:
        return tuple(ReviewChoice(key, verdict) for verdict, key in _VERDICT_KEYS.items())
    best_first = scale.labels[::-1]
    keys = [one.id for one in best_first] if all(one.id in _DIGITS for one in best_first) else _KEYS
    return tuple(
        ReviewChoice(key, one.verdict, one.id, one.meaning) for key, one in zip(keys, best_first, strict=False)
    )
