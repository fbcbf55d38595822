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

import numpy as np

from jury_analysis.certificate import (
    Certificate,
    Tried,
    bound_by_cluster,
    certificate,
    clopper_pearson,
    counts_by_cluster,
)
from jury_analysis.errors import AnalysisError
from jury_analysis.ladders.ladder_use import FAILS, PASSES, LadderVotes, StageVotes
from jury_analysis.vote_matrix import Bools, Ints

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


class CertifiedLadder(NamedTuple):
    """The certificates of all stages but the last, and where each unit ends.

    `ends` is [units]: the stage that decides, from 0; of units that were not certified on too.
    """

    stages: tuple[StageCertificate, ...]
    ends: Ints


def certify_ladder(votes: LadderVotes, used: Bools, promises: Promises) -> CertifiedLadder:
    """Find the lowest certified thresholds, stage by stage.

    Args:
        used: [units]: those to certify on; units without a label are none of them.
    """
    used = np.asarray(used & votes.labelled)
    clusters = votes.clusters
    number = len(np.unique(clusters[used]))
    ends = np.full(len(votes.labels), len(votes.stages) - 1, dtype=np.int64)
    passed = np.zeros(len(votes.labels), dtype=np.bool_)
    reached = np.ones(len(votes.labels), dtype=np.bool_)
    found = []
    for place, stage in enumerate(votes.stages[:-1]):
        counts = _Counting(votes, stage, used, reached, passed, clustered=number < int(used.sum()))
        one = stage_certificate(
            counts.of(promises),
            promises,
            units=int(used.sum()),
            clusters=number,
            stages=len(votes.stages),
            combinations=promises.combinations([len(before.seats) for before in votes.stages[:place]]),
        )
        passes, fails = (
            reached & reaching(stage, outcome, threshold)
            for outcome, threshold in ((PASSES, one.pass_threshold), (FAILS, one.fail_threshold))
        )
        ends[passes | fails] = place
        passed |= passes
        reached &= ~(passes | fails)
        found.append(one)
    return CertifiedLadder(tuple(found), ends)


class _Counting(NamedTuple):
    """Counts of a stage among the units that reach it."""

    votes: LadderVotes
    stage: StageVotes
    used: Bools
    reached: Bools
    passed: Bools
    """[units]: accepted as a pass by a stage before."""
    clustered: bool

    def of(self, promises: Promises) -> StageCounts:
        passes, pass_subject = self._tried(PASSES)
        fails, fail_subject = self._tried(FAILS)
        missed = () if promises.missed is None else tuple(self._missed(one.threshold) for one in passes)
        return StageCounts(passes, pass_subject, fails, fail_subject, missed)

    def _tried(self, outcome: int) -> tuple[list[Tried], int]:
        """Levels that accept no more than the one before are left out: nothing was seen of verdicts there."""
        within = self.used & self.reached & (self.stage.outcomes == outcome)
        wrong = within & (self.votes.labels != outcome)
        sequence: list[Tried] = []
        for level in early_levels(len(self.stage.seats)):
            accepted = within & reaching(self.stage, outcome, level)
            count = int(accepted.sum())
            if count == (sequence[-1].accepted if sequence else 0):
                continue
            sequence.append(Tried(level, count, int((accepted & wrong).sum()), self._table(accepted, wrong, self.used)))
        return sequence, int(within.sum())

    def _missed(self, threshold: float) -> MissedCount:
        failing = self.used & (self.votes.labels == FAILS)
        passed = self.passed | (self.reached & reaching(self.stage, PASSES, threshold))
        missed = failing & passed
        return MissedCount(threshold, int(failing.sum()), int(missed.sum()), self._table(failing, missed, self.used))

    def _table(self, counted: Bools, wrong: Bools, units: Bools) -> Table:
        if not self.clustered:
            return ()
        return counts_by_cluster(counted[units], wrong[units], self.votes.clusters[units])


class StageRisk(NamedTuple):
    """What a stage accepts with an outcome, and how much of it is wrong."""

    stage: int
    """From 0."""
    outcome: int
    accepted: int
    wrong: int


class Applied(NamedTuple):
    """Where cases end.

    Attributes:
        ends: [units]: the stage that decides each, from 0.
        risks: of each stage before the last and each outcome that it accepts.
        failing: labelled units whose label fails.
        missed: of these, accepted as a pass before the last stage.
    """

    ends: Ints
    risks: tuple[StageRisk, ...]
    failing: int
    missed: int

    def breaks(self, promises: Promises) -> bool:
        """Whether any promise does not hold of these units."""
        kept = {PASSES: promises.passes, FAILS: promises.fails}
        for one in self.risks:
            risk = kept[one.outcome]
            if risk is not None and one.wrong > risk * one.accepted:
                return True
        return promises.missed is not None and self.missed > promises.missed * self.failing


def apply_ladder(votes: LadderVotes, stages: Sequence[StageCertificate]) -> Applied:
    """What the thresholds do."""
    ends = np.full(len(votes.labels), len(votes.stages) - 1, dtype=np.int64)
    reached = np.ones(len(votes.labels), dtype=np.bool_)
    passed = np.zeros(len(votes.labels), dtype=np.bool_)
    risks = []
    for place, (stage, of) in enumerate(zip(votes.stages, stages, strict=False)):
        for outcome, threshold in ((PASSES, of.pass_threshold), (FAILS, of.fail_threshold)):
            accepted = reached & reaching(stage, outcome, threshold)
            ends[accepted] = place
            if outcome == PASSES:
                passed |= accepted
            labelled = accepted & votes.labelled
            if labelled.any():
                wrong = labelled & (votes.labels != outcome)
                risks.append(StageRisk(place, outcome, int(labelled.sum()), int(wrong.sum())))
        reached &= ends > place
    failing = votes.labels == FAILS
    return Applied(ends, tuple(risks), int(failing.sum()), int((failing & passed).sum()))


def reaching(stage: StageVotes, outcome: int, threshold: float | None) -> Bools:
    """[units]: whose verdict has this outcome and reaches the threshold; None: none."""
    if threshold is None:
        return np.zeros(len(stage.outcomes), dtype=np.bool_)
    return np.asarray((stage.outcomes == outcome) & (np.nan_to_num(stage.shares, nan=-1.0) >= threshold))
