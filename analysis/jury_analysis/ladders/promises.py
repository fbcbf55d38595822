"""What a ladder promises, and the error that each of its tests may make so that all promises hold at once.

Valid by construction. Fix the panels, the promises and the levels beforehand. Which cases reach a stage follows from
the thresholds of the stages before it, which are chosen with the same labels; but they are one of finitely many
combinations, fixed by the numbers of seats. For each combination the cases that reach the stage are a fixed
population, and a fixed sequence of thresholds is tested there, from the highest down to the first that is refused: the
chance that it certifies a threshold whose risk is too high is at most the error of one test (fixed sequence testing,
arXiv 2110.01052). With m accepting stages, p promises and C combinations before a stage each test has the error
δ / (m p C); over all combinations, promises and stages these add up to δ (Bonferroni), whichever combination the labels
choose. No label is set aside to choose with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from jury_analysis.errors import AnalysisError

Accepted = Literal["pass", "fail"]

_DIGITS = 9


@dataclass(frozen=True)
class Promises:
    """Shares between 0 and 1; None: not promised."""

    passes: float | None
    """Most wrong ones of the passes that a stage accepts. Without it no pass is accepted."""
    fails: float | None
    """Most wrong ones of the fails that a stage accepts. Without it no fail is accepted."""
    missed: float | None = None
    """Most cases accepted as a pass before the last stage, of those whose label fails."""
    confidence: float = 0.9
    """That all of them hold."""

    def __post_init__(self) -> None:
        """Refuse promises of which no verdict could be accepted."""
        if self.passes is None and self.fails is None:
            raise AnalysisError("a ladder accepts verdicts by outcome: promise --risk pass=…, fail=…, or both")
        if self.missed is not None and self.passes is None:
            raise AnalysisError("missed= is about accepted passes, and no pass is accepted without --risk pass=…")

    @property
    def number(self) -> int:
        """How many there are."""
        return sum(one is not None for one in (self.passes, self.fails, self.missed))

    @property
    def outcomes(self) -> int:
        """Of how many outcomes verdicts are accepted."""
        return (self.passes is not None) + (self.fails is not None)

    def test_confidence(self, stages: int, combinations: int) -> float:
        """The confidence of each sequence of a stage, so that all promises hold at once with `confidence`.

        Args:
            stages: of the ladder, the last one included.
            combinations: of thresholds of the stages before.
        """
        return 1 - (1 - self.confidence) / ((stages - 1) * self.number * combinations)

    def combinations(self, seats: Sequence[int]) -> int:
        """How many thresholds the stages before could have: each outcome one of the levels, or none.

        Args:
            seats: of each stage before.
        """
        return prod((len(early_levels(one)) + 1) ** self.outcomes for one in seats)


def early_levels(seats: int) -> tuple[float, ...]:
    """Shares of the votes from which on a verdict may be accepted early, descending: more than half of the seats."""
    return tuple(round(votes / seats, _DIGITS) for votes in range(seats, seats // 2, -1))
