"""The certificates of a ladder, from labelled votes, and what a ladder does with votes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jury_analysis.certificate import Tried
from jury_analysis.certification import counts_by_cluster
from jury_analysis.ladders.ladder_use import FAILS, PASSES, LadderVotes, StageVotes
from jury_analysis.ladders.promises import (
    MissedCount,
    Promises,
    StageCertificate,
    StageCounts,
    Table,
    early_levels,
    stage_certificate,
)
from jury_analysis.vote_matrix import Bools, Ints


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
