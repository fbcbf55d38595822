"""The three verdicts, and the words of other systems for them."""

from enum import StrEnum


class Verdict(StrEnum):
    """What a juror, a panel or a human label says of a case."""

    SAFE_PASS = "safe_pass"  # noqa: S105  (a verdict, not a password)
    NEEDS_REVIEW = "needs_review"
    UNSAFE_FAIL = "unsafe_fail"

    @classmethod
    def from_label(cls, label: str) -> "Verdict":
        """Read a label as a verdict: our own words, approve / manual / reject, safe / unsafe; case is ignored.

        Raises:
            ValueError: the label is none of them; the message lists what is understood.
        """
        found = _WORDS.get(label.strip().lower())
        if found is None:
            raise ValueError(f"label {label!r} is not understood; known labels: {', '.join(sorted(_WORDS))}")
        return found


_WORDS = {
    **{verdict.value: verdict for verdict in Verdict},
    "approve": Verdict.SAFE_PASS,
    "manual": Verdict.NEEDS_REVIEW,
    "reject": Verdict.UNSAFE_FAIL,
    "safe": Verdict.SAFE_PASS,
    "unsafe": Verdict.UNSAFE_FAIL,
}
