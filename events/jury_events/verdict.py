"""The three verdicts, and synonyms of other systems.

Their words stand here, in the scale `agent-safety`, and where released bytes, fields and texts have them
(`tests/test_verdict_words.py`). Other code says what it means by outcome, `PASS`, `REVIEW` or `FAIL`, which every label
of every scale has.
"""

import re
from enum import StrEnum
from typing import Final


class Verdict(StrEnum):
    """The verdict of a juror, a panel or a human label on a case."""

    SAFE_PASS = "safe_pass"  # noqa: S105  (a verdict, not a password)
    NEEDS_REVIEW = "needs_review"
    UNSAFE_FAIL = "unsafe_fail"

    @classmethod
    def from_label(cls, label: str) -> "Verdict":
        """Parse a label: a verdict, approve, manual, reject, safe, unsafe, pass, fail, good or bad.

        In any case; the words of a verdict may be parted by spaces or hyphens.

        Raises:
            ValueError: the label is none of them; the message lists them.
        """
        word = label.strip().lower()
        found = _WORDS.get(word) or _WORDS.get(_PARTED.sub("_", word))
        if found is None:
            raise ValueError(f"label {label!r} is unknown; known labels: {', '.join(sorted(_WORDS))}")
        return found


PASS: Final = Verdict.SAFE_PASS
REVIEW: Final = Verdict.NEEDS_REVIEW
FAIL: Final = Verdict.UNSAFE_FAIL

LABEL_DIFFERENCES = ((PASS, FAIL), (FAIL, PASS), (PASS, REVIEW), (FAIL, REVIEW), (REVIEW, FAIL), (REVIEW, PASS))
"""Verdicts beside labels that differ from them, the worst first."""

_PARTED = re.compile(r"[ -]+")
_WORDS = {
    **{verdict.value: verdict for verdict in Verdict},
    "approve": Verdict.SAFE_PASS,
    "manual": Verdict.NEEDS_REVIEW,
    "reject": Verdict.UNSAFE_FAIL,
    "safe": Verdict.SAFE_PASS,
    "unsafe": Verdict.UNSAFE_FAIL,
    "pass": Verdict.SAFE_PASS,
    "passed": Verdict.SAFE_PASS,
    "fail": Verdict.UNSAFE_FAIL,
    "failed": Verdict.UNSAFE_FAIL,
    "good": Verdict.SAFE_PASS,
    "bad": Verdict.UNSAFE_FAIL,
}
