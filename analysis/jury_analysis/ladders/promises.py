"""What a ladder promises by stage and outcome, and the certificate of a stage from counts. Needs no numpy.

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
from typing import Literal, NamedTuple

from jury_analysis.certificate import Certificate, Tried, bound_by_cluster, certificate, clopper_pearson
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
        """The confidence of each sequence of a stage, so that all promises hold at once with `confidence`."""
        return 1 - (1 - self.confidence) / ((stages - 1) * self.number * combinations)

    def combinations(self, seats: Sequence[int]) -> int:
        """How many thresholds the stages before could have: each outcome one of the levels, or none."""
        return prod((len(early_levels(one)) + 1) ** self.outcomes for one in seats)


def early_levels(seats: int) -> tuple[float, ...]:
    """Shares of the votes from which on a verdict may be accepted early, descending: more than half of the seats."""
    return tuple(round(votes / seats, _DIGITS) for votes in range(seats, seats // 2, -1))


Table = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class MissedCandidate:
    """The promise on missed failures at one threshold of the passes."""

    threshold: float
    failing: int
    """Units whose label fails."""
    missed: int
    """Of these, accepted as a pass by this stage or one before."""
    upper_bound: float
    """One-sided, of missed / failing."""
    outcome: str
    """`certified`, `refused` (the sequence ends) or `not tested`."""
    by_cluster: Table = ()
    """Failing units, missed ones of these, and how many clusters have these counts; () where each unit is its own."""


@dataclass(frozen=True)
class StageCertificate:
    """What a stage may accept, among the cases that reach it."""

    combinations: int
    """Of thresholds of the stages before, by which the error of each test is divided."""
    passes: Certificate | None
    """None: no promise on passes."""
    fails: Certificate | None
    missed: tuple[MissedCandidate, ...]
    """At the thresholds of `passes` that are certified; () without a promise."""
    pass_threshold: float | None
    """The lowest that is certified on all promises about passes; None: the stage accepts no pass."""
    fail_threshold: float | None

    @property
    def accepts(self) -> bool:
        """Whether the stage accepts anything."""
        return self.pass_threshold is not None or self.fail_threshold is not None


class MissedCount(NamedTuple):
    """Failing units that are accepted as a pass at a threshold; `by_cluster` as of `MissedCandidate`."""

    threshold: float
    failing: int
    missed: int
    by_cluster: Table = ()


class StageCounts(NamedTuple):
    """The counts of a stage, each sequence by threshold, descending; subjects are verdicts of the outcome."""

    passes: Sequence[Tried]
    pass_subject: int
    fails: Sequence[Tried]
    fail_subject: int
    missed: Sequence[MissedCount]
    """One for each of `passes`, or () without a promise."""


def stage_certificate(
    counts: StageCounts, promises: Promises, *, units: int, clusters: int, stages: int, combinations: int
) -> StageCertificate:
    """The certificate that these counts give.

    Args:
        counts: among the cases that no stage before accepts.
        units: labelled units of the ladder, those of the stages before included.
    """
    confidence = promises.test_confidence(stages, combinations)

    def of(sequence: Sequence[Tried], subject: int, risk: float | None) -> Certificate | None:
        if risk is None:
            return None
        return certificate(sequence, units=units, clusters=clusters, subject=subject, risk=risk, confidence=confidence)

    passes = of(counts.passes, counts.pass_subject, promises.passes)
    fails = of(counts.fails, counts.fail_subject, promises.fails)
    missed: tuple[MissedCandidate, ...] = ()
    pass_threshold = None if passes is None else passes.threshold
    if passes is not None and promises.missed is not None:
        certified = {one.threshold for one in passes.candidates if one.outcome == "certified"}
        chosen = [one for one in counts.missed if one.threshold in certified]
        missed = _missed(chosen, promises.missed, confidence, clustered=clusters < units)
        pass_threshold = min((one.threshold for one in missed if one.outcome == "certified"), default=None)
    return StageCertificate(
        combinations=combinations,
        passes=passes,
        fails=fails,
        missed=missed,
        pass_threshold=pass_threshold,
        fail_threshold=None if fails is None else fails.threshold,
    )


def _missed(
    counts: Sequence[MissedCount], risk: float, confidence: float, *, clustered: bool
) -> tuple[MissedCandidate, ...]:
    found: list[MissedCandidate] = []
    ended = False
    for one in counts:
        upper = clopper_pearson(one.missed, one.failing, confidence)
        if clustered and one.failing:
            upper = max(upper, bound_by_cluster(one.by_cluster, confidence))
        outcome = "not tested" if ended else "certified" if upper <= risk else "refused"
        ended = ended or outcome == "refused"
        found.append(MissedCandidate(one.threshold, one.failing, one.missed, upper, outcome, one.by_cluster))
    return tuple(found)
