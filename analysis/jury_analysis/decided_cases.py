"""What verdicts decided, and how often that was right: counts of the sentence beside labels. Imports no numpy."""

from dataclasses import dataclass

from jury_analysis.estimate import Estimate


@dataclass(frozen=True)
class DecidedCases:
    """Verdicts beside labels."""

    labelled: int
    """Cases with a label."""
    right: Estimate
    """Right verdicts / verdicts that leave nothing to people; n is their number."""
    false_passes: int | None
    """Verdicts that pass where the label does not; None where the verdicts have no order."""
    false_fails: int | None
    """Verdicts that fail where the label does not; None likewise."""

    @property
    def number_right(self) -> int:
        """Right verdicts of those."""
        return round((self.right.value or 0.0) * self.right.n)

    @property
    def left(self) -> int:
        """Cases that are left to people."""
        return self.labelled - self.right.n
